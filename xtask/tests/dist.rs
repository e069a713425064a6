//! The files for packagers are accepted by the programs that read them.

use xtask::dist;
use xtask::process::command;

#[test]
fn completions_are_shell_scripts() {
    let dir = tempfile::tempdir().unwrap();
    let paths = dist::completions(dir.path()).unwrap();
    assert_eq!(paths.len(), 5);
    let bash =
        paths.iter().find(|path| path.extension().is_some_and(|ending| ending == "bash")).unwrap();
    let checked = command("bash").arg("-n").arg(bash).output().unwrap();
    assert!(checked.status.success(), "{}", String::from_utf8_lossy(&checked.stderr));
    let script = "source \"$0\"; COMP_WORDS=(convoke bri); COMP_CWORD=1; \
                     _convoke convoke bri convoke; echo \"${COMPREPLY[*]}\"";
    let completed = command("bash").args(["-c", script]).arg(bash).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&completed.stdout), "brief\n");
}

#[test]
fn man_pages_are_well_formed() {
    let dir = tempfile::tempdir().unwrap();
    let pages = dist::man_pages(dir.path()).unwrap();
    let names: Vec<_> =
        pages.iter().map(|path| path.file_name().unwrap().to_string_lossy().into_owned()).collect();
    assert!(names.contains(&"convoke-brief-rest.1".to_owned()), "{names:?}");
    let checked =
        command("mandoc").args(["-T", "lint", "-W", "error"]).args(&pages).output().unwrap();
    assert!(checked.status.success(), "{}", String::from_utf8_lossy(&checked.stdout));
}
