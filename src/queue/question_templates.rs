//! The templates of the two questions: the user's, else the built-in ones.

use std::path::Path;

use crate::fsx;
use crate::paths::Paths;
use crate::setup::templates::{CURATOR, MAX_TEMPLATE, REFLECTOR, Template};

pub(crate) fn reflector_template(paths: &Paths) -> Result<String, fsx::FsError> {
    template(paths, &REFLECTOR)
}

pub(crate) fn curator_template(paths: &Paths) -> Result<String, fsx::FsError> {
    template(paths, &CURATOR)
}

/// Returns the user's text; where there is none, or it has no place for what it is about, the
/// built-in one.
fn template(paths: &Paths, template: &Template) -> Result<String, fsx::FsError> {
    let file = paths.template(template.name);
    let own = fsx::read_if_there(&file, MAX_TEMPLATE)?;
    let own = own.map(|bytes| utf8(bytes, &file)).transpose()?;
    let own = own.filter(|text| template.serves(text));
    Ok(own.unwrap_or_else(|| template.built_in.to_owned()))
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
