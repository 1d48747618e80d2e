//! Promise: the page of `playbook report` renders, sorts and filters in a browser, and its links
//! work, without errors on the console.
//!
//! Needs Chromium; without one these tests print that and pass. Debian has it as `chromium`:
//!
//! ```sh
//! apt-get install -y chromium && cargo test --test commands report_browser
//! ```

use crate::common::prelude::*;

const NAMES: &str = "chromium chromium-browser google-chrome google-chrome-stable";
const OPTIONS: &str = "--headless --no-sandbox --disable-gpu --no-first-run --dump-dom \
    --disable-dev-shm-usage --hide-scrollbars --virtual-time-budget=3000 \
    --enable-logging=stderr --force-prefers-reduced-motion";

struct Browser {
    env: TestEnv,
    program: PathBuf,
}

struct Seen {
    dom: String,
    console: Vec<String>,
}

impl Browser {
    /// Finds the browser of this machine, and creates the page of a project with a history.
    fn find() -> Option<Self> {
        let folders = std::env::var_os("PATH")?;
        let mut programs = std::env::split_paths(&folders)
            .flat_map(|folder| NAMES.split(' ').map(move |name| folder.join(name)));
        let Some(program) = programs.find(|program| program.is_file()) else {
            eprintln!("skipped: no Chromium on PATH");
            return None;
        };
        let env = TestEnv::without_worker();
        env.live();
        env.cli(&["report", "--out", "r.html"]).ok();
        Some(Self { env, program })
    }

    fn page(&self) -> PathBuf {
        self.env.project().join("r.html")
    }

    /// Returns the page without its policy and with a script at its end that acts as the user.
    fn page_used_by(&self, script: &str) -> PathBuf {
        let page = fs::read_to_string(self.page()).unwrap();
        let (before, rest) = page.split_once("<meta http-equiv").unwrap();
        let (_, rest) = rest.split_once('\n').unwrap();
        let rest = rest.replace("</body>", &format!("<script>{script}</script></body>"));
        let file = self.env.project().join("used.html");
        fs::write(&file, format!("{before}{rest}")).unwrap();
        file
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        let home = self.env.home();
        command
            .env_clear()
            .env("HOME", &home)
            .env("PATH", "/usr/bin:/bin")
            .args(OPTIONS.split_whitespace())
            .arg(format!("--user-data-dir={}/chromium", home.display()))
            .stdin(Stdio::null());
        command
    }

    fn look(&self, file: &Path, hash: &str) -> Seen {
        let mut command = self.command();
        command.arg(format!("file://{}{hash}", file.display()));
        let done = command.output().unwrap();
        let said = String::from_utf8_lossy(&done.stderr).into_owned();
        let console = said.lines().filter(|line| line.contains("CONSOLE"));
        Seen {
            dom: String::from_utf8(done.stdout).unwrap(),
            console: console.map(str::to_owned).collect(),
        }
    }
}

impl Seen {
    /// Returns the first value of each visible row of a table, in order.
    fn rows(&self, table: &str) -> Vec<&str> {
        let table = format!("data-table=\"{table}\"");
        let (_, rest) = self.dom.split_once(&table).unwrap();
        let (_, body) = rest.split_once("<tbody").unwrap();
        let (body, _) = body.split_once("</tbody>").unwrap();
        body.split("<tr ")
            .skip(1)
            .filter(|row| !row.split_once('>').unwrap().0.contains("hidden"))
            .map(|row| row.split("data-v=\"").nth(1).unwrap())
            .map(|value| value.split('"').next().unwrap())
            .collect()
    }
}

#[rstest]
#[case::as_it_is("", &["pat-001", "pat-002", "pat-003", "mis-001", "mis-002", "pref-001", "pref-002", "ctx-001", "oth-001"])]
#[case::most_helpful_first("#points.sort=-helpful", &["ctx-001", "pat-001", "pat-002", "mis-001", "pref-001", "pat-003", "mis-002", "oth-001", "pref-002"])]
#[case::a_section("#points.section=mis", &["mis-001", "mis-002"])]
#[case::all_three("#points.q=the&points.section=pat&points.sort=helpful", &["pat-003"])]
#[case::nonsense("#points.sort=-nothing&points.section=xyz&=&%", &["pat-001", "pat-002", "pat-003", "mis-001", "mis-002", "pref-001", "pref-002", "ctx-001", "oth-001"])]
fn a_link_leads_to_the_view_it_names(#[case] hash: &str, #[case] rows: &[&str]) {
    let Some(tab) = Browser::find() else { return };
    let seen = tab.look(&tab.page(), hash);
    assert_eq!(seen.console, Vec::<String>::new());
    assert_eq!(seen.rows("points"), rows);
    lacks!(seen.dom, "<title>owned");
}

#[test]
fn hands_on_the_page_sort_filter_and_leave_a_link() {
    let Some(tab) = Browser::find() else { return };
    let used = tab.page_used_by(
        "const points = document.querySelector('[data-table=points]');
         points.querySelector('[data-key=harmful] button').click();
         const find = points.querySelector('input');
         find.value = 'the'; find.dispatchEvent(new Event('input'));
         document.body.dataset.link = location.hash;
         document.body.dataset.told = points.querySelector('output').textContent;",
    );
    let seen = tab.look(&used, "");
    assert_eq!(seen.console, Vec::<String>::new());
    assert_eq!(seen.rows("points")[0], "ctx-001");
    has!(
        seen.dom,
        "data-link=\"#points.sort=-harmful&amp;points.q=the\"",
        " of 9\"",
        "data-key=\"harmful\" data-sort=\"number\" aria-sort=\"descending\""
    );
}

#[test]
fn nothing_sticks_out_of_a_narrow_screen() {
    let Some(tab) = Browser::find() else { return };
    let used = tab.page_used_by(
        "document.body.dataset.out = [...document.querySelectorAll('main *')]
           .filter((e) => !e.closest('.scroll, .hidden, svg'))
           .filter((e) => e.getBoundingClientRect().right > innerWidth + 1).length;
         document.body.dataset.wide = document.documentElement.scrollWidth > innerWidth;",
    );
    // The narrowest window that Chromium makes is wider than a phone; a frame can be narrower.
    let frame = tab.env.project().join("frame.html");
    let source = "<iframe id=f src='used.html' style='width:390px;height:800px'></iframe>\
         <script>f.onload = () => { const d = f.contentDocument.body.dataset;\
         document.title = 'out ' + d.out + ' wide ' + d.wide; }</script>";
    fs::write(&frame, source).unwrap();
    assert!(used.is_file());
    let mut command = tab.command();
    command.arg("--allow-file-access-from-files");
    command.arg(format!("file://{}", frame.display()));
    let dom = String::from_utf8(command.output().unwrap().stdout).unwrap();
    has!(dom, "<title>out 0 wide false</title>");
}
