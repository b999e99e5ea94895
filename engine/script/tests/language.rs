//! The language, by what scripts give: text as `_scripts/painless/_execute` prints it, or the fault.

use script::{Context, Machine, NoHost, Object, Value, compile};

/// Runs a source without parameters; its result as text, or `exception: message`.
fn run(source: &str) -> String {
    let program = match compile(source, &Context::TEST) {
        Ok(program) => program,
        Err(error) => {
            let cause = error.cause;
            return format!("compile {}: {}", cause.kind, cause.message.unwrap_or_default());
        }
    };
    let mut machine = Machine::new();
    let params = machine
        .heap
        .object(Object::Map(script::map::Map::new(script::map::Order::Linked)))
        .expect("memory");
    match machine.execute(&program, &[params], &mut NoHost) {
        Ok(value) => script::show::text(&mut machine.heap, value).expect("shown"),
        Err(error) => {
            let cause = error.cause;
            format!("{}: {}", cause.kind, cause.message.unwrap_or_default())
        }
    }
}

#[track_caller]
fn all(table: &[(&str, &str)]) {
    for (source, wanted) in table {
        assert_eq!(run(source), *wanted, "{source}");
    }
}

#[test]
fn numbers_are_javas() {
    all(&[
        ("1 + 2 * 3", "7"),
        ("7 / 2", "3"),
        ("-7 / 2", "-3"),
        ("-7 % 3", "-1"),
        ("7 / 2.0", "3.5"),
        ("7 / 2f", "3.5"),
        ("2147483647 + 1", "-2147483648"),
        ("2147483647L + 1", "2147483648"),
        ("-2147483648", "-2147483648"),
        ("1 << 33", "2"),
        ("-1 >>> 28", "15"),
        ("-8 >> 1", "-4"),
        ("(int) 3.99", "3"),
        ("(byte) 200", "-56"),
        ("(char) 97", "a"),
        ("(int) (char) 'a'", "97"),
        ("(long) 1e300", "9223372036854775807"),
        ("0x1F + 017", "46"),
        ("1 / 0", "arithmetic_exception: / by zero"),
        ("1.0 / 0", "Infinity"),
        ("0.1 + 0.2", "0.30000000000000004"),
        ("5 & 3 | 8 ^ 2", "11"),
        ("~5", "-6"),
        ("byte b = (byte) 1; b += 300; b", "45"),
        ("int x = 5; x /= 2.0; x", "2"),
        ("def x = 1; x += 1.9; x", "2"),
        ("Math.max(1, 2L) + Math.abs(-3)", "5"),
        ("Math.round(2.5)", "3"),
        ("Math.floorMod(-7, 3)", "2"),
        ("Integer.parseInt('42') + Long.parseLong('8')", "50"),
        ("Integer.parseInt('x')", "number_format_exception: For input string: \"x\""),
        ("Double.parseDouble('1e3')", "1000.0"),
        ("Integer.toHexString(255)", "ff"),
    ]);
}

#[test]
fn types_are_checked_before_anything_runs() {
    all(&[
        (
            "int x = 'a'; x",
            "compile class_cast_exception: Cannot cast from [java.lang.String] to [int].",
        ),
        ("int x = 1.5; x", "compile class_cast_exception: Cannot cast from [double] to [int]."),
        (
            "long l = 1; int i = l; i",
            "compile class_cast_exception: Cannot cast from [long] to [int].",
        ),
        ("x + 1", "compile illegal_argument_exception: cannot resolve symbol [x]"),
        (
            "int x = 1; int x = 2; x",
            "compile illegal_argument_exception: variable [x] is already defined",
        ),
        (
            "java.io.File f = null; 1",
            "compile illegal_argument_exception: cannot resolve type [java.io.File].",
        ),
        (
            "99999999999",
            "compile illegal_argument_exception: Invalid int constant [99999999999]. If you want a \
             long constant then change it to [99999999999L].",
        ),
        (
            "'a' - 1",
            "compile class_cast_exception: Cannot apply [-] operation to types [java.lang.String] and \
             [int].",
        ),
        (
            "return 1 2",
            "compile illegal_argument_exception: unexpected token ['2'] was expecting one of [{<EOF>, \
             ';'}].",
        ),
        ("return 1; 2", "compile illegal_argument_exception: unreachable statement"),
        (
            "int f(int a) { if (a > 1) { return 2 } } f(1)",
            "compile illegal_argument_exception: not all paths provide a return value for function [f] \
             with [1] parameters",
        ),
        (
            "def x = 1.5; int y = x; y",
            "class_cast_exception: cannot implicitly cast def [double] to int",
        ),
        (
            "def x = null; x.foo",
            "null_pointer_exception: cannot access method/field [foo] from a null def reference",
        ),
        (
            "def x = 'a'; x.foo()",
            "illegal_argument_exception: dynamic method [java.lang.String, foo/0] not found",
        ),
        ("(", "compile illegal_argument_exception: unexpected end of script."),
    ]);
}

#[test]
fn control_flow() {
    all(&[
        ("int s = 0; for (int i = 0; i < 5; i++) { if (i == 3) continue; s += i } s", "7"),
        ("int s = 0; while (true) { s++; if (s > 9) break } s", "10"),
        ("int s = 0; do { s += 2 } while (s < 5); s", "6"),
        ("int s = 0; for (int i : new int[] {1, 2, 3}) { s += i } return s", "6"),
        ("def s = ''; for (x in ['a', 'b']) { s += x } s", "ab"),
        ("if (1 > 2) { 'a' } else { 'b' }", "b"),
        ("int f(int n) { return n < 2 ? n : f(n - 1) + f(n - 2) } f(15)", "610"),
        ("def x = null; x ?: 'd'", "d"),
        ("def x = null; x?.foo?.bar", "null"),
        ("true ? 1 : 2.5", "1.0"),
        ("try { int x = 0; 1 / x } catch (ArithmeticException e) { e.getMessage() }", "/ by zero"),
        (
            "try { throw new IllegalArgumentException('no') } catch (Exception e) { 'c:' + e.message }",
            "c:no",
        ),
        ("throw new IllegalStateException('bad')", "illegal_state_exception: bad"),
        (
            "int i = 0; while (true) { i++ }",
            "painless_error: The maximum number of statements that can be executed in a loop has been \
             reached.",
        ),
        ("int f(int n) { return f(n + 1) } f(0)", "stack_overflow_error: "),
        ("int i = 1; def a = i++ + ++i; a + ':' + i", "4:3"),
        ("def a = [1, 2]; a[0]++; a[1] += 5; a", "[2, 7]"),
        ("def m = [:]; m.a = 1; m.a++; m.b = m.a--; m", "{a=1, b=2}"),
    ]);
}

#[test]
fn collections_and_functions() {
    all(&[
        ("[1, 2, 3].size() + [:].size()", "3"),
        ("def l = [3, 1, 2]; l.sort((a, b) -> b - a); l", "[3, 2, 1]"),
        ("def l = new ArrayList([3, 1]); l.add(2); l.sort(null); l.toString()", "[1, 2, 3]"),
        ("def l = ['b', 'a']; l.sort(Comparator.naturalOrder()); l", "[a, b]"),
        (
            "[1, 2, 3, 4].stream().filter(x -> x % 2 == 0).map(x -> x * 10).collect(Collectors.toList())",
            "[20, 40]",
        ),
        ("[1, 2, 3].stream().mapToInt(Integer::intValue).sum()", "6"),
        ("['a', 'bb'].stream().map(String::length).collect(Collectors.toList())", "[1, 2]"),
        ("def l = [1, 2, 3]; l.removeIf(x -> x > 1); l", "[1]"),
        ("int k = 10; [1, 2].stream().map(x -> x + k).collect(Collectors.toList())", "[11, 12]"),
        (
            "int dbl(int x) { return x * 2 } [1, 2].stream().map(this::dbl).collect(Collectors.toList())",
            "[2, 4]",
        ),
        (
            "def m = ['a': 1]; m.computeIfAbsent('b', k -> 2); m.merge('a', 5, (x, y) -> x + y); m",
            "{a=6, b=2}",
        ),
        ("def m = new TreeMap(); m.z = 1; m.a = 2; m", "{a=2, z=1}"),
        ("def m = [:]; for (int i = 0; i < 20; i++) { m['k' + i] = i } m.size() + m.k7", "27"),
        ("def s = new HashSet(); s.add(1); s.add(1); s.size()", "1"),
        (
            "def l = [1, 2, 3]; l.get(5)",
            "index_out_of_bounds_exception: Index 5 out of bounds for length 3",
        ),
        ("def l = [1, 2, 3]; l[-1]", "3"),
        ("int[] a = new int[3]; a[1] = 4; a.length + a[1]", "7"),
        ("def x = [1]; x instanceof List && !(x instanceof Map)", "true"),
        ("def e = ['a': 1].entrySet().iterator().next(); e.getKey() + e.value", "a1"),
        (
            "def l = [1, 2, 3, 4]; Iterator i = l.iterator(); while (i.hasNext()) { if (i.next() % 2 == 0) { i.remove() } } l",
            "[1, 3]",
        ),
        ("[1, [2, 3]].equals([1, [2, 3]])", "true"),
        ("def a = []; a.add(a); a == a", "true"),
    ]);
}

#[test]
fn text_dates_and_patterns() {
    all(&[
        ("'Hello'.substring(1, 3) + 'x'.length()", "el1"),
        ("'a,b,,c,'.splitOnToken(',').length", "5"),
        ("'a1b22c'.replaceAll('[0-9]+', '-')", "a-b-c"),
        ("'abc'.substring(5)", "string_index_out_of_bounds_exception: begin 5, end 3, length 3"),
        ("'x' + null + 1.0 + true + (char) 'c'", "xnull1.0truec"),
        ("StringBuilder b = new StringBuilder(); b.append('a').append(1); b.toString()", "a1"),
        ("String.join('-', ['a', 'b'])", "a-b"),
        ("'foo' =~ /o+/", "true"),
        ("'foo' ==~ /o+/", "false"),
        ("Matcher m = /(\\d+)-(\\d+)/.matcher('a 12-34'); m.find() ? m.group(2) : ''", "34"),
        ("ZonedDateTime.parse('2020-02-28T10:00:00Z').plusDays(2).toString()", "2020-03-01T10:00Z"),
        (
            "ZonedDateTime.parse('2020-02-28T10:00:00+02:00').toInstant().toEpochMilli()",
            "1582876800000",
        ),
        ("Instant.ofEpochMilli(0L).atZone(ZoneId.of('Europe/Paris')).getHour()", "1"),
        (
            "ChronoUnit.DAYS.between(LocalDate.parse('2020-01-01'), LocalDate.parse('2020-03-01'))",
            "60",
        ),
        (
            "ZonedDateTime.parse('2020-02-28T10:00:00Z').format(DateTimeFormatter.ofPattern('yyyy/MM/dd HH:mm EEE'))",
            "2020/02/28 10:00 Fri",
        ),
        ("ZonedDateTime.parse('2020-02-28T10:00:00Z').dayOfWeek", "FRIDAY"),
        ("LocalDate.of(2024, 2, 29).getDayOfWeek().getValue()", "4"),
        (
            "Duration.between(Instant.ofEpochMilli(0L), Instant.ofEpochMilli(90000L)).toMinutes()",
            "1",
        ),
        (
            "LocalDate.parse('x')",
            "date_time_parse_exception: Text 'x' could not be parsed at index 0",
        ),
    ]);
}

#[test]
fn memory_and_depth_are_bounded() {
    let deep = format!("{}1{}", "(".repeat(3_000), ")".repeat(3_000));
    assert!(run(&deep).contains("nested too deeply"));
    let chain = format!("1{}", " + 1".repeat(3_000));
    assert!(run(&chain).contains("nested too deeply"));
    assert!(run("def s = 'x'; while (true) { s += s }").starts_with("circuit_breaking_exception"));
    assert!(
        run("def l = []; while (true) { l.add(new int[100000]) }").starts_with("circuit_breaking")
    );
    // A terabyte was written before it was counted.
    for all in [
        "'a'.repeat(1000000).replaceAll('a', 'b'.repeat(1000000))",
        "/a/.matcher('a'.repeat(1000000)).replaceAll('b'.repeat(1000000))",
    ] {
        let answer = run(all);
        assert!(answer.starts_with("circuit_breaking_exception"), "{answer}");
    }
    let long = "def s = 'x'.repeat(1000000); int n = 0; while (s.contains('y') == false) { n++ } n";
    assert!(run(long).contains("too many steps"), "{}", run(long));
    let nested = "[1, 2, 3, 4].each(x -> { for (int i = 0; i < 300000; i++) { } }); 1";
    assert!(run(nested).contains("too many steps"), "{}", run(nested));
    assert!(run("def a = []; a.add(a); a.toString()").starts_with("stack_overflow_error"));
}

/// Sixty lists that hold each other twice are a value of 2^60 parts: one comparison held its core for ever.
#[test]
fn what_one_comparison_looks_at_is_bounded() {
    let lists = "def l = ['x']; def m = ['x']; \
                 for (int i = 0; i < 60; ++i) { l = [l, l]; m = [m, m] } ";
    for all in [
        "l.hashCode()",
        "l.equals(m)",
        "l == m",
        "def h = new HashSet(); h.add(l); 1",
        "def h = [:]; h[l] = 1; 1",
        "[l].contains(m)",
        "[m].indexOf(l)",
        "Objects.hash(l)",
        "[l].each(x -> { x.hashCode() }); 1",
        "try { l.hashCode() } catch (Exception e) { } 1",
    ] {
        let answer = run(&format!("{lists}{all}"));
        assert!(answer.contains("too many parts"), "{all}: {answer}");
    }
    // Values of a few parts are compared as before, whatever else the run compared.
    let few = "def l = [1, [2, [3]]]; def m = [1, [2, [3]]]; int n = 0; \
               for (int i = 0; i < 300000; ++i) { if (l.equals(m)) { n++ } } n";
    assert_eq!(run(few), "300000");
    assert_eq!(run("[1, [2, [3]]].hashCode() == [1, [2, [3]]].hashCode()"), "true");
}

#[test]
fn errors_show_the_statement_and_an_arrow() {
    let source = "int x = 0; return 1 / x";
    let program = compile(source, &Context::TEST).expect("compiles");
    let error = Machine::new().execute(&program, &[Value::Null], &mut NoHost).expect_err("divides");
    assert_eq!(error.stack, ["return 1 / x", "       ^---- HERE"]);
    let position = error.position.expect("a place");
    assert_eq!((position.offset, position.start, position.end), (18, 11, 23));

    let error = compile("foo bar baz", &Context::TEST).expect_err("no script");
    assert_eq!(error.stack[0], "foo bar baz");
}

#[test]
fn a_run_that_was_paused_goes_on_where_it_stood() {
    let source = "int s = 0; for (int i = 0; i < 1000; i++) { s += i } s";
    let program = compile(source, &Context::TEST).expect("compiles");
    let mut machine = Machine::new();
    machine.start(&program, &[Value::Null]);
    let mut pauses = 0;
    loop {
        let mut fuel = 100;
        match machine.resume(&program, &mut NoHost, &mut fuel).expect("runs") {
            script::Run::Paused => pauses += 1,
            script::Run::Done(value) => {
                assert!(matches!(value, Value::Int(499_500)));
                break;
            }
        }
    }
    assert!(pauses > 50, "{pauses}");
}
