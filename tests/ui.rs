//! What the compiler says about mistakes, and programs that must compile.

#[test]
fn mistakes_are_explained_where_they_are_made() {
    let tests = trybuild::TestCases::new();
    tests.pass("ui/pass/*.rs");
    tests.compile_fail("ui/fail/*.rs");
}
