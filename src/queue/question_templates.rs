//! The templates of the two questions: the user's, else the built-in ones.

use std::path::Path;

use crate::fsx;
use crate::paths::Paths;
use crate::reflect::prompt::{CURATOR_TEMPLATE, REFLECTOR_TEMPLATE};

const MAX_TEMPLATE: u64 = 1 << 20;

pub(crate) fn reflector_template(paths: &Paths) -> Result<String, fsx::FsError> {
    template(paths, "reflector.txt", REFLECTOR_TEMPLATE)
}

pub(crate) fn curator_template(paths: &Paths) -> Result<String, fsx::FsError> {
    template(paths, "curator.txt", CURATOR_TEMPLATE)
}

fn template(paths: &Paths, name: &str, built_in: &str) -> Result<String, fsx::FsError> {
    let file = paths.template(name);
    match fsx::read_if_there(&file, MAX_TEMPLATE)? {
        None => Ok(built_in.to_owned()),
        Some(bytes) => utf8(bytes, &file),
    }
}

pub(crate) fn template_in(file: &Path) -> Result<String, fsx::FsError> {
    utf8(fsx::read(file, MAX_TEMPLATE)?, file)
}

fn utf8(bytes: Vec<u8>, file: &Path) -> Result<String, fsx::FsError> {
    String::from_utf8(bytes).map_err(|e| fsx::FsError {
        action: "read template".to_owned(),
        path: file.to_owned(),
        source: std::io::Error::new(std::io::ErrorKind::InvalidData, e),
    })
}
