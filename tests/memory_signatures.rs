//! The same error in another place has the same signature, and different errors differ.
//!
//! A table of pairs as tools print them; precision and recall are reported by
//! `cargo test --test memory_signatures -- --nocapture`.

// The helpers are tests too.
#![allow(clippy::unwrap_used)]

use std::collections::{BTreeMap, BTreeSet};

use playbook::memory::{Normalised, Signature, context_hash};
use proptest::prelude::*;
use rstest::rstest;

/// The least share of equal signatures that must be of equal errors.
const PRECISION: f64 = 0.98;
/// The least share of equal errors that must have equal signatures.
const RECALL: f64 = 0.9;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Are {
    Same,
    Different,
}
use Are::{Different, Same};

/// Where it comes from, what the two are to each other, and the two.
struct Pair(&'static str, Are, &'static str, &'static str);

const PAIRS: &[Pair] = &[
    // Rust
    Pair(
        "rustc",
        Same,
        "Exit code 101\n   Compiling serde v1.0.200\n   Compiling app v0.1.0 (/home/ann/app)\nerror[E0382]: borrow of moved value: `config`\n  --> src/main.rs:14:20\n   |\n12 |     let config = load();\n   |         ------ move occurs because `config` has type `Config`\n14 |     println!(\"{:?}\", config);\n   |                      ^^^^^^ value borrowed here after move\n\nerror: aborting due to 1 previous error\n\nFor more information about this error, try `rustc --explain E0382`.\nerror: could not compile `app` (bin \"app\") due to 1 previous error",
        "Exit code 101\n    Blocking waiting for file lock on build directory\n   Compiling tool v2.3.1 (/srv/build/tool)\nwarning: unused import: `std::fs`\n --> src/lib.rs:1:5\n  |\n1 | use std::fs;\n  |     ^^^^^^^\n\nerror[E0382]: borrow of moved value: `rows`\n   --> src/db/query.rs:201:9\n    |\n201 |         rows.len()\n    |         ^^^^ value borrowed here after move\n\nwarning: `tool` (lib) generated 1 warning\nerror: could not compile `tool` (lib) due to 1 previous error; 1 warning emitted",
    ),
    Pair(
        "rustc",
        Different,
        "error[E0382]: use of moved value: `a`\n --> src/main.rs:3:5",
        "error[E0499]: cannot borrow `a` as mutable more than once at a time\n --> src/main.rs:3:5",
    ),
    Pair(
        "rustc",
        Same,
        "error[E0425]: cannot find value `total` in this scope\n --> src/lib.rs:8:5\n  |\n8 |     total += 1;\n  |     ^^^^^ not found in this scope",
        "error[E0425]: cannot find value `line_count` in this scope\n   --> src/report/html.rs:118:22\n    |\n118 |     println!(\"{line_count}\");\n    |                ^^^^^^^^^^ not found in this scope",
    ),
    Pair(
        "rustc",
        Different,
        "error[E0425]: cannot find value `total` in this scope\n --> src/lib.rs:8:5",
        "error[E0425]: cannot find function `total` in this scope\n --> src/lib.rs:8:5",
    ),
    Pair(
        "cargo test",
        Same,
        "running 3 tests\ntest tests::adds ... FAILED\n\nfailures:\n\n---- tests::adds stdout ----\n\nthread 'tests::adds' panicked at src/lib.rs:12:9:\nassertion `left == right` failed\n  left: 4\n right: 5\nnote: run with `RUST_BACKTRACE=1` environment variable to display a backtrace\n\n\nfailures:\n    tests::adds\n\ntest result: FAILED. 2 passed; 1 failed; 0 ignored",
        "running 41 tests\ntest parse::empty ... FAILED\n\nfailures:\n\n---- parse::empty stdout ----\n\nthread 'parse::empty' (90112) panicked at crates/core/src/parse.rs:340:13:\nassertion `left == right` failed\n  left: \"\"\n right: \"a\"\nnote: run with `RUST_BACKTRACE=1` environment variable to display a backtrace\n\n\nfailures:\n    parse::empty\n\ntest result: FAILED. 40 passed; 1 failed; 0 ignored",
    ),
    Pair(
        "rust panic",
        Different,
        "thread 'main' panicked at src/main.rs:4:10:\ncalled `Option::unwrap()` on a `None` value",
        "thread 'main' panicked at src/main.rs:4:10:\nindex out of bounds: the len is 3 but the index is 7",
    ),
    Pair(
        "rust panic",
        Same,
        "thread 'main' panicked at src/main.rs:4:10:\nindex out of bounds: the len is 3 but the index is 7",
        "thread 'tokio-runtime-worker' panicked at /build/x/src/ring.rs:77:31:\nindex out of bounds: the len is 4096 but the index is 4096\nnote: run with `RUST_BACKTRACE=1` environment variable to display a backtrace",
    ),
    Pair(
        "cargo",
        Same,
        "error: no matching package named `serde_jsn` found\nlocation searched: crates.io index\nrequired by package `app v0.1.0 (/home/ann/app)`",
        "    Updating crates.io index\nerror: no matching package named `tokyo` found\nlocation searched: crates.io index\nrequired by package `srv v3.0.0 (/tmp/tmp.Qx81/srv)`",
    ),
    // C and C++
    Pair(
        "gcc",
        Same,
        "main.c: In function 'main':\nmain.c:5:3: error: 'count' undeclared (first use in this function)\n    5 |   count = 1;\n      |   ^~~~~\nmain.c:5:3: note: each undeclared identifier is reported only once",
        "src/net/sock.c: In function 'sock_open':\nsrc/net/sock.c:188:21: error: 'retries' undeclared (first use in this function)\n  188 |   while (retries--) {\n      |          ^~~~~~~",
    ),
    Pair(
        "gcc",
        Different,
        "main.c:5:3: error: 'count' undeclared (first use in this function)",
        "main.c:5:3: error: expected ';' before 'count'",
    ),
    Pair(
        "ld",
        Same,
        "/usr/bin/ld: /tmp/ccX1aB2c.o: in function `main':\nmain.c:(.text+0x15): undefined reference to `deflateInit_'\ncollect2: error: ld returned 1 exit status",
        "/usr/bin/ld: build/image.o: in function `png_save':\nimage.c:(.text+0x9f2): undefined reference to `png_create_write_struct'\ncollect2: error: ld returned 1 exit status\nmake: *** [Makefile:12: app] Error 1",
    ),
    Pair(
        "ld",
        Different,
        "/usr/bin/ld: main.o: in function `main':\nmain.c:(.text+0x15): undefined reference to `foo'\ncollect2: error: ld returned 1 exit status",
        "/usr/bin/ld: cannot find -lfoo: No such file or directory\ncollect2: error: ld returned 1 exit status",
    ),
    Pair(
        "clang",
        Same,
        "foo.cpp:10:5: error: use of undeclared identifier 'vec'\n   10 |     vec.push_back(1);\n      |     ^\n1 error generated.",
        "lib/engine/render.cpp:1042:17: error: use of undeclared identifier 'kMaxLights'\n 1042 |     if (n > kMaxLights)\n      |             ^\n1 error generated.",
    ),
    Pair(
        "msvc",
        Different,
        "main.cpp(12): error C2065: 'x': undeclared identifier",
        "main.cpp(12): error C2143: syntax error: missing ';' before '}'",
    ),
    Pair(
        "cmake",
        Same,
        "CMake Error at CMakeLists.txt:12 (find_package):\n  Could not find a package configuration file provided by \"fmt\" with any of\n  the following names:\n\n    fmtConfig.cmake\n    fmt-config.cmake",
        "-- The CXX compiler identification is GNU 13.2.0\n-- Detecting CXX compiler ABI info - done\nCMake Error at libs/net/CMakeLists.txt:3 (find_package):\n  Could not find a package configuration file provided by \"asio\" with any of\n  the following names:\n\n    asioConfig.cmake",
    ),
    Pair(
        "make",
        Same,
        "make: *** No rule to make target 'foo.o', needed by 'all'.  Stop.",
        "make[2]: *** No rule to make target 'src/bar/baz.c', needed by 'build/baz.o'.  Stop.",
    ),
    Pair(
        "make",
        Different,
        "make: *** No rule to make target 'foo.o', needed by 'all'.  Stop.",
        "Makefile:12: *** missing separator.  Stop.",
    ),
    Pair(
        "segfault",
        Different,
        "Exit code 139\n./run.sh: line 3: 12345 Segmentation fault      (core dumped) ./app",
        "Exit code 137\n./run.sh: line 3: 12345 Killed                  ./app",
    ),
    // Python
    Pair(
        "python",
        Same,
        "Exit code 1\nTraceback (most recent call last):\n  File \"/home/ann/app/main.py\", line 3, in <module>\n    import requests\nModuleNotFoundError: No module named 'requests'",
        "Exit code 1\nloading settings\nTraceback (most recent call last):\n  File \"/srv/job/run.py\", line 41, in <module>\n    from job import tasks\n  File \"/srv/job/tasks.py\", line 7, in <module>\n    import yaml\nModuleNotFoundError: No module named 'yaml'",
    ),
    Pair(
        "python",
        Different,
        "Traceback (most recent call last):\n  File \"a.py\", line 1, in <module>\n    import foo\nModuleNotFoundError: No module named 'foo'",
        "Traceback (most recent call last):\n  File \"a.py\", line 1, in <module>\n    from foo import bar\nImportError: cannot import name 'bar' from 'foo' (/x/foo.py)",
    ),
    Pair(
        "python",
        Same,
        "Traceback (most recent call last):\n  File \"a.py\", line 9, in <module>\n    print(d['name'])\n          ~^^^^^^^^\nKeyError: 'name'",
        "Traceback (most recent call last):\n  File \"/opt/x/etl/load.py\", line 77, in load\n    return row['customer_id']\nKeyError: 'customer_id'",
    ),
    Pair(
        "python",
        Different,
        "Traceback (most recent call last):\n  File \"a.py\", line 9, in f\n    return d[k]\nKeyError: 'name'",
        "Traceback (most recent call last):\n  File \"a.py\", line 9, in f\n    return d[k]\nIndexError: list index out of range",
    ),
    Pair(
        "python",
        Same,
        "Traceback (most recent call last):\n  File \"x.py\", line 2, in <module>\n    open('conf.ini')\nFileNotFoundError: [Errno 2] No such file or directory: 'conf.ini'",
        "Traceback (most recent call last):\n  File \"/usr/lib/python3.12/runpy.py\", line 198, in _run\n  File \"y.py\", line 20, in read\n    with open(path) as f:\nFileNotFoundError: [Errno 2] No such file or directory: '/var/data/2026-01-05/in.csv'",
    ),
    Pair(
        "python",
        Different,
        "Traceback (most recent call last):\n  File \"x.py\", line 2, in <module>\nOSError: [Errno 28] No space left on device: '/data/a'",
        "Traceback (most recent call last):\n  File \"x.py\", line 2, in <module>\nOSError: [Errno 98] Address already in use",
    ),
    Pair(
        "python",
        Same,
        "Traceback (most recent call last):\n  File \"m.py\", line 5, in <module>\n    greet()\nTypeError: greet() missing 1 required positional argument: 'name'",
        "Traceback (most recent call last):\n  File \"views.py\", line 140, in post\n    self.save_row(a)\nTypeError: Table.save_row() missing 2 required positional arguments: 'b' and 'c'",
    ),
    Pair(
        "python",
        Different,
        "TypeError: greet() missing 1 required positional argument: 'name'",
        "TypeError: greet() got an unexpected keyword argument 'name'",
    ),
    Pair(
        "python",
        Same,
        "Traceback (most recent call last):\n  File \"m.py\", line 5, in <module>\nAttributeError: 'NoneType' object has no attribute 'strip'",
        "Traceback (most recent call last):\n  File \"k.py\", line 15, in norm\nAttributeError: 'NoneType' object has no attribute 'lower'. Did you mean: 'low'?",
    ),
    Pair(
        "pytest",
        Same,
        "============================= test session starts ==============================\nplatform linux -- Python 3.12.1, pytest-8.0.0\ncollected 3 items\n\ntests/test_a.py F..                                                      [100%]\n\n=================================== FAILURES ===================================\n___________________________________ test_add ___________________________________\n\n    def test_add():\n>       assert add(1, 2) == 4\nE       assert 3 == 4\nE        +  where 3 = add(1, 2)\n\ntests/test_a.py:5: AssertionError\n=========================== short test summary info ============================\nFAILED tests/test_a.py::test_add - assert 3 == 4\n========================= 1 failed, 2 passed in 0.03s ==========================",
        "============================= test session starts ==============================\nplatform darwin -- Python 3.11.8, pytest-7.4.4\ncollected 120 items\n\ntests/unit/test_sum.py ...F..                                            [ 40%]\n\n=================================== FAILURES ===================================\n_______________________________ test_sum_of_rows _______________________________\n\n    def test_sum_of_rows():\n        rows = load()\n>       assert total(rows) == 118\nE       assert 117 == 118\nE        +  where 117 = total([1, 2])\n\ntests/unit/test_sum.py:31: AssertionError\n=========================== short test summary info ============================\nFAILED tests/unit/test_sum.py::test_sum_of_rows - assert 117 == 118\n======================== 1 failed, 119 passed in 4.10s =========================",
    ),
    Pair(
        "pip",
        Same,
        "ERROR: Could not find a version that satisfies the requirement torchh (from versions: none)\nERROR: No matching distribution found for torchh",
        "Collecting pkg\n  Downloading pkg-1.0-py3-none-any.whl (10 kB)\nERROR: Could not find a version that satisfies the requirement left-pad==9.9 (from versions: none)\nERROR: No matching distribution found for left-pad==9.9",
    ),
    Pair(
        "pip",
        Different,
        "ERROR: Could not find a version that satisfies the requirement torchh (from versions: none)",
        "error: externally-managed-environment\n\n× This environment is externally managed\n╰─> To install Python packages system-wide, try apt install",
    ),
    Pair(
        "mypy",
        Same,
        "app/a.py:10: error: Incompatible types in assignment (expression has type \"str\", variable has type \"int\")  [assignment]\nFound 1 error in 1 file (checked 3 source files)",
        "lib/core/b.py:410: error: Incompatible types in assignment (expression has type \"None\", variable has type \"Path\")  [assignment]\nFound 1 error in 1 file (checked 88 source files)",
    ),
    Pair(
        "mypy",
        Different,
        "a.py:10: error: Incompatible types in assignment (expression has type \"str\", variable has type \"int\")  [assignment]",
        "a.py:10: error: Argument 1 to \"f\" has incompatible type \"str\"; expected \"int\"  [arg-type]",
    ),
    Pair(
        "ruff",
        Different,
        "src/a.py:1:8: F401 [*] `os` imported but unused\nFound 1 error.",
        "src/a.py:1:8: E501 Line too long (120 > 88)\nFound 1 error.",
    ),
    Pair(
        "ruff",
        Same,
        "src/a.py:1:8: F401 [*] `os` imported but unused\nFound 1 error.\n[*] 1 fixable with the `--fix` option.",
        "tests/unit/test_b.py:12:20: F401 [*] `typing.Any` imported but unused\nFound 4 errors.",
    ),
    // JavaScript and TypeScript
    Pair(
        "node",
        Same,
        "node:internal/modules/cjs/loader:1148\n  throw err;\n  ^\n\nError: Cannot find module 'express'\nRequire stack:\n- /home/ann/app/index.js\n    at Module._resolveFilename (node:internal/modules/cjs/loader:1145:15)\n    at Module._load (node:internal/modules/cjs/loader:986:27) {\n  code: 'MODULE_NOT_FOUND',\n  requireStack: [ '/home/ann/app/index.js' ]\n}\n\nNode.js v20.11.0",
        "node:internal/modules/cjs/loader:1080\n  throw err;\n  ^\n\nError: Cannot find module './routes/users'\nRequire stack:\n- /srv/www/src/server.js\n- /srv/www/src/main.js\n    at Function.Module._resolveFilename (node:internal/modules/cjs/loader:1077:15)\n\nNode.js v18.19.1",
    ),
    Pair(
        "node",
        Different,
        "TypeError: Cannot read properties of undefined (reading 'name')\n    at main (/a/b.js:3:5)",
        "TypeError: user.getName is not a function\n    at main (/a/b.js:3:5)",
    ),
    Pair(
        "node",
        Same,
        "/home/ann/app/index.js:4\n  console.log(user.name);\n                   ^\n\nTypeError: Cannot read properties of undefined (reading 'name')\n    at Object.<anonymous> (/home/ann/app/index.js:4:20)\n    at Module._compile (node:internal/modules/cjs/loader:1364:14)",
        "Uncaught TypeError: Cannot read properties of undefined (reading 'length')\n    at render (webpack-internal:///./src/List.jsx:33:17)",
    ),
    Pair(
        "node",
        Same,
        "Error: listen EADDRINUSE: address already in use :::3000\n    at Server.setupListenHandle [as _listen2] (node:net:1817:16) {\n  code: 'EADDRINUSE',\n  port: 3000\n}",
        "Error: listen EADDRINUSE: address already in use 127.0.0.1:8080\n    at Server.setupListenHandle [as _listen2] (node:net:1898:16)",
    ),
    Pair(
        "node",
        Different,
        "Error: connect ECONNREFUSED 127.0.0.1:5432\n    at TCPConnectWrap.afterConnect [as oncomplete] (node:net:1595:16)",
        "Error: connect ETIMEDOUT 127.0.0.1:5432\n    at TCPConnectWrap.afterConnect [as oncomplete] (node:net:1595:16)",
    ),
    Pair(
        "node",
        Different,
        "Error: ENOENT: no such file or directory, open '/a/b.json'",
        "Error: EACCES: permission denied, open '/a/b.json'",
    ),
    Pair(
        "npm",
        Same,
        "npm ERR! code ERESOLVE\nnpm ERR! ERESOLVE unable to resolve dependency tree\nnpm ERR! \nnpm ERR! While resolving: app@1.0.0\nnpm ERR! Found: react@18.2.0\nnpm ERR! A complete log of this run can be found in: /home/ann/.npm/_logs/2026-01-05T10_00_00_000Z-debug-0.log",
        "npm warn deprecated rimraf@2.7.1: no longer supported\nnpm error code ERESOLVE\nnpm error ERESOLVE unable to resolve dependency tree\nnpm error\nnpm error While resolving: shop@0.3.0\nnpm error Found: typescript@5.4.2",
    ),
    Pair(
        "npm",
        Different,
        "npm ERR! code E404\nnpm ERR! 404 Not Found - GET https://registry.npmjs.org/nope - Not found",
        "npm ERR! code E403\nnpm ERR! 403 403 Forbidden - PUT https://registry.npmjs.org/nope",
    ),
    Pair(
        "npm",
        Same,
        "npm error Missing script: \"biuld\"\nnpm error\nnpm error Did you mean this?\nnpm error   npm run build",
        "npm error Missing script: \"lint\"\nnpm error\nnpm error To see a list of scripts, run:\nnpm error   npm run",
    ),
    Pair(
        "tsc",
        Same,
        "src/a.ts(12,5): error TS2322: Type 'string' is not assignable to type 'number'.",
        "packages/ui/src/Button.tsx(201,17): error TS2322: Type 'null' is not assignable to type 'Element'.",
    ),
    Pair(
        "tsc",
        Different,
        "src/a.ts(12,5): error TS2322: Type 'string' is not assignable to type 'number'.",
        "src/a.ts(12,5): error TS2345: Argument of type 'string' is not assignable to parameter of type 'number'.",
    ),
    Pair(
        "tsc",
        Same,
        "src/index.ts:3:10 - error TS2305: Module '\"./util\"' has no exported member 'slug'.\n\n3 import { slug } from './util';\n           ~~~~\n\n\nFound 1 error in src/index.ts:3",
        "lib/x/y.ts:30:22 - error TS2305: Module '\"../api\"' has no exported member 'fetchAll'.\n\n30 import { a, fetchAll } from '../api';\n              ~~~~~~~~\n\n\nFound 2 errors in 2 files.",
    ),
    Pair(
        "eslint",
        Same,
        "\n/home/ann/app/src/a.js\n  12:7  error  'foo' is assigned a value but never used  no-unused-vars\n\n✖ 1 problem (1 error, 0 warnings)\n",
        "\n/srv/ci/build/web/src/pages/home.js\n  1:1    warning  Missing JSDoc comment  require-jsdoc\n  204:13  error  'response' is assigned a value but never used  no-unused-vars\n\n✖ 2 problems (1 error, 1 warning)\n",
    ),
    Pair(
        "eslint",
        Different,
        "/a/b.js\n  12:7  error  'foo' is assigned a value but never used  no-unused-vars\n\n✖ 1 problem (1 error, 0 warnings)",
        "/a/b.js\n  12:7  error  'foo' is not defined  no-undef\n\n✖ 1 problem (1 error, 0 warnings)",
    ),
    Pair(
        "jest",
        Same,
        "FAIL src/sum.test.js\n  ● adds\n\n    expect(received).toBe(expected) // Object.is equality\n\n    Expected: 4\n    Received: 3\n\n      3 | test('adds', () => {\n    > 4 |   expect(sum(1, 2)).toBe(4);\n        |                     ^\n\nTests:       1 failed, 1 total",
        "FAIL packages/cart/price.test.ts (5.2 s)\n  ● price › with discount › rounds\n\n    expect(received).toBe(expected) // Object.is equality\n\n    Expected: 19.99\n    Received: 20\n\n      40 |     const p = price(cart);\n    > 41 |     expect(p).toBe(19.99);\n         |               ^\n\nTests:       1 failed, 30 passed, 31 total",
    ),
    Pair(
        "jest",
        Different,
        "  ● adds\n\n    expect(received).toBe(expected) // Object.is equality\n\n    Expected: 4\n    Received: 3",
        "  ● adds\n\n    thrown: \"Exceeded timeout of 5000 ms for a test.\"",
    ),
    Pair(
        "json",
        Same,
        "SyntaxError: Unexpected token '<', \"<!DOCTYPE \"... is not valid JSON\n    at JSON.parse (<anonymous>)",
        "SyntaxError: Unexpected token '<', \"<html><bod\"... is not valid JSON\n    at JSON.parse (<anonymous>)\n    at load (/srv/a.js:3:14)",
    ),
    // Go
    Pair(
        "go",
        Same,
        "# example.com/app\n./main.go:10:2: undefined: total",
        "# github.com/acme/svc/internal/db\ninternal/db/rows.go:233:17: undefined: scanRow",
    ),
    Pair(
        "go",
        Different,
        "# example.com/app\n./main.go:10:2: undefined: total",
        "# example.com/app\n./main.go:10:2: declared and not used: total",
    ),
    Pair(
        "go",
        Same,
        "panic: runtime error: index out of range [5] with length 3\n\ngoroutine 1 [running]:\nmain.main()\n\t/home/ann/a/main.go:8 +0x1d\nexit status 2",
        "panic: runtime error: index out of range [128] with length 128\n\ngoroutine 34 [running]:\ngithub.com/acme/ring.(*Ring).At(...)\n\t/srv/go/ring.go:40\nexit status 2",
    ),
    Pair(
        "go",
        Different,
        "panic: runtime error: index out of range [5] with length 3\n\ngoroutine 1 [running]:",
        "panic: runtime error: invalid memory address or nil pointer dereference\n[signal SIGSEGV: segmentation violation code=0x1 addr=0x0 pc=0x47d3a1]\n\ngoroutine 1 [running]:",
    ),
    Pair(
        "go",
        Same,
        "go: cannot find main module, but found .git/config in /home/ann/x\n\tto create a module there, run:\n\tgo mod init",
        "go: cannot find main module, but found .git/config in /srv/repos/tool\n\tto create a module there, run:\n\tcd .. && go mod init",
    ),
    Pair(
        "go",
        Same,
        "main.go:4:2: no required module provides package github.com/pkg/errors; to add it:\n\tgo get github.com/pkg/errors",
        "internal/x/y.go:11:2: no required module provides package golang.org/x/sync/errgroup; to add it:\n\tgo get golang.org/x/sync/errgroup",
    ),
    // Java, Kotlin, C#
    Pair(
        "java",
        Same,
        "Exception in thread \"main\" java.lang.NullPointerException: Cannot invoke \"String.length()\" because \"s\" is null\n\tat Main.main(Main.java:5)",
        "Exception in thread \"worker-7\" java.lang.NullPointerException: Cannot invoke \"java.util.List.size()\" because \"this.rows\" is null\n\tat com.acme.Table.count(Table.java:310)\n\tat com.acme.Job.run(Job.java:44)",
    ),
    Pair(
        "java",
        Different,
        "Exception in thread \"main\" java.lang.NullPointerException\n\tat Main.main(Main.java:5)",
        "Exception in thread \"main\" java.lang.ClassCastException\n\tat Main.main(Main.java:5)",
    ),
    Pair(
        "java",
        Different,
        "org.springframework.beans.factory.BeanCreationException: Error creating bean with name 'a'\n\tat x.Y.z(Y.java:1)\nCaused by: java.net.ConnectException: Connection refused\n\tat x.Y.z(Y.java:1)",
        "org.springframework.beans.factory.BeanCreationException: Error creating bean with name 'a'\n\tat x.Y.z(Y.java:1)\nCaused by: java.lang.ClassNotFoundException: com.mysql.Driver\n\tat x.Y.z(Y.java:1)",
    ),
    Pair(
        "javac",
        Same,
        "Main.java:3: error: cannot find symbol\n    Lst<String> a;\n    ^\n  symbol:   class Lst\n  location: class Main\n1 error",
        "src/main/java/com/acme/Api.java:88: error: cannot find symbol\n        Optionl<User> u = find();\n        ^\n  symbol:   class Optionl\n  location: class Api\n1 error",
    ),
    Pair(
        "gradle",
        Same,
        "> Task :app:compileJava FAILED\n/home/ann/app/src/A.java:3: error: ';' expected\n    int a = 1\n             ^\n1 error\n\nFAILURE: Build failed with an exception.\n\n* What went wrong:\nExecution failed for task ':app:compileJava'.\n> Compilation failed; see the compiler error output for details.",
        "> Task :core:compileJava FAILED\n/srv/b/core/src/main/java/B.java:77: error: ';' expected\n        return x\n                ^\n1 error\n\nFAILURE: Build failed with an exception.\n\n* What went wrong:\nExecution failed for task ':core:compileJava'.",
    ),
    Pair(
        "maven",
        Different,
        "[INFO] BUILD FAILURE\n[ERROR] COMPILATION ERROR : \n[ERROR] /x/A.java:[10,5] cannot find symbol\n[ERROR] Failed to execute goal org.apache.maven.plugins:maven-compiler-plugin:3.11.0:compile",
        "[INFO] BUILD FAILURE\n[ERROR] COMPILATION ERROR : \n[ERROR] /x/A.java:[10,5] incompatible types: String cannot be converted to int\n[ERROR] Failed to execute goal org.apache.maven.plugins:maven-compiler-plugin:3.11.0:compile",
    ),
    Pair(
        "kotlin",
        Same,
        "e: file:///home/ann/app/src/Main.kt:4:9 Unresolved reference: prntln",
        "e: file:///srv/ci/core/src/main/kotlin/Db.kt:120:33 Unresolved reference: fetchAll",
    ),
    Pair(
        "dotnet",
        Same,
        "/home/ann/app/Program.cs(5,1): error CS0103: The name 'Consol' does not exist in the current context [/home/ann/app/app.csproj]\n\nBuild FAILED.",
        "C:\\work\\svc\\Api\\Users.cs(77,21): error CS0103: The name 'logger' does not exist in the current context [C:\\work\\svc\\Api\\Api.csproj]\n\nBuild FAILED.",
    ),
    Pair(
        "dotnet",
        Different,
        "Program.cs(5,1): error CS0103: The name 'x' does not exist in the current context",
        "Program.cs(5,1): error CS1002: ; expected",
    ),
    // Ruby, PHP, Perl, Elixir, Haskell, Swift
    Pair(
        "ruby",
        Same,
        "a.rb:3:in `<main>': undefined method `nme' for nil:NilClass (NoMethodError)\n\nputs user.nme\n         ^^^^",
        "app/models/order.rb:88:in `total': undefined method `price' for nil:NilClass (NoMethodError)\n\tfrom app/controllers/cart.rb:4:in `show'",
    ),
    Pair(
        "ruby",
        Different,
        "a.rb:3:in `<main>': undefined method `nme' for nil:NilClass (NoMethodError)",
        "a.rb:3:in `<main>': undefined local variable or method `nme' for main:Object (NameError)",
    ),
    Pair(
        "bundler",
        Same,
        "Could not find gem 'rails (~> 7.1)' in locally installed gems.\nRun `bundle install` to install missing gems.",
        "Could not find gem 'pg (>= 1.5)' in locally installed gems.\nRun `bundle install` to install missing gems.",
    ),
    Pair(
        "php",
        Same,
        "PHP Fatal error:  Uncaught Error: Call to undefined function foo() in /home/ann/a.php:3\nStack trace:\n#0 {main}\n  thrown in /home/ann/a.php on line 3",
        "PHP Fatal error:  Uncaught Error: Call to undefined function mb_strlen() in /var/www/html/lib/text.php:140\nStack trace:\n#0 /var/www/html/index.php(12): cut('x')\n#1 {main}\n  thrown in /var/www/html/lib/text.php on line 140",
    ),
    Pair(
        "php",
        Different,
        "PHP Fatal error:  Uncaught Error: Call to undefined function foo() in /a.php:3",
        "PHP Fatal error:  Uncaught Error: Class \"Foo\" not found in /a.php:3",
    ),
    Pair(
        "perl",
        Same,
        "Can't locate JSON/XS.pm in @INC (you may need to install the JSON::XS module) (@INC entries checked: /etc/perl /usr/share/perl5) at a.pl line 2.\nBEGIN failed--compilation aborted at a.pl line 2.",
        "Can't locate DBI.pm in @INC (you may need to install the DBI module) (@INC entries checked: /opt/perl/lib /opt/perl/site /usr/lib/perl) at bin/report.pl line 14.\nBEGIN failed--compilation aborted at bin/report.pl line 14.",
    ),
    Pair(
        "elixir",
        Same,
        "** (UndefinedFunctionError) function Foo.bar/1 is undefined (module Foo is not available)\n    Foo.bar(1)\n    a.exs:3: (file)",
        "** (UndefinedFunctionError) function Shop.Cart.total/2 is undefined (module Shop.Cart is not available)\n    Shop.Cart.total(1, 2)\n    lib/shop.ex:31: Shop.run/0",
    ),
    Pair(
        "ghc",
        Same,
        "src/Main.hs:10:5: error: [GHC-88464]\n    Variable not in scope: total\n   |\n10 |     total + 1\n   |     ^^^^^",
        "app/Lib/Parse.hs:201:17: error: [GHC-88464]\n    Variable not in scope: many1\n    |\n201 |     xs <- many1 digit\n    |           ^^^^^",
    ),
    Pair(
        "swift",
        Same,
        "main.swift:3:5: error: cannot find 'pritn' in scope\npritn(1)\n^~~~~",
        "/Users/ann/App/Sources/View.swift:90:22: error: cannot find 'items' in scope\n        List(items) { i in\n             ^~~~~",
    ),
    // Databases
    Pair(
        "postgres",
        Same,
        "psql:schema.sql:12: ERROR:  relation \"users\" does not exist\nLINE 1: SELECT * FROM users;\n                      ^",
        "ERROR:  relation \"public.orders\" does not exist\nLINE 3: JOIN public.orders o ON o.id = i.order_id\n             ^",
    ),
    Pair(
        "postgres",
        Different,
        "ERROR:  relation \"users\" does not exist",
        "ERROR:  column \"users\" does not exist",
    ),
    Pair(
        "postgres",
        Same,
        "ERROR:  duplicate key value violates unique constraint \"users_email_key\"\nDETAIL:  Key (email)=(a@b.c) already exists.",
        "ERROR:  duplicate key value violates unique constraint \"orders_pkey\"\nDETAIL:  Key (id)=(1204) already exists.",
    ),
    Pair(
        "mysql",
        Different,
        "ERROR 1045 (28000): Access denied for user 'root'@'localhost' (using password: YES)",
        "ERROR 1049 (42000): Unknown database 'shop'",
    ),
    Pair(
        "mysql",
        Same,
        "ERROR 1146 (42S02) at line 3: Table 'shop.users' doesn't exist",
        "ERROR 1146 (42S02) at line 210: Table 'crm.contacts' doesn't exist",
    ),
    Pair(
        "sqlite",
        Same,
        "Error: in prepare, no such table: users",
        "Error: in prepare, no such table: line_items",
    ),
    Pair(
        "sqlite",
        Different,
        "sqlite3.OperationalError: no such table: users",
        "sqlite3.OperationalError: database is locked",
    ),
    // Git and hosting
    Pair(
        "git",
        Same,
        "Exit code 128\nfatal: not a git repository (or any of the parent directories): .git",
        "fatal: not a git repository (or any of the parent directories): .git",
    ),
    Pair(
        "git",
        Different,
        "Exit code 128\nfatal: not a git repository (or any of the parent directories): .git",
        "Exit code 128\nfatal: refusing to merge unrelated histories",
    ),
    Pair(
        "git",
        Same,
        "To github.com:ann/app.git\n ! [rejected]        main -> main (non-fast-forward)\nerror: failed to push some refs to 'github.com:ann/app.git'\nhint: Updates were rejected because the tip of your current branch is behind",
        "To git@gitlab.com:acme/svc.git\n ! [rejected]        feature/login -> feature/login (non-fast-forward)\nerror: failed to push some refs to 'gitlab.com:acme/svc.git'",
    ),
    Pair(
        "git",
        Different,
        "To github.com:ann/app.git\n ! [rejected]        main -> main (non-fast-forward)\nerror: failed to push some refs to 'github.com:ann/app.git'",
        "To github.com:ann/app.git\n ! [remote rejected] main -> main (pre-receive hook declined)\nerror: failed to push some refs to 'github.com:ann/app.git'",
    ),
    Pair(
        "git",
        Same,
        "Auto-merging src/a.rs\nCONFLICT (content): Merge conflict in src/a.rs\nAutomatic merge failed; fix conflicts and then commit the result.",
        "Auto-merging Cargo.lock\nAuto-merging README\nCONFLICT (content): Merge conflict in README\nAutomatic merge failed; fix conflicts and then commit the result.",
    ),
    Pair(
        "git",
        Same,
        "error: pathspec 'mian' did not match any file(s) known to git",
        "error: pathspec 'feature/x-2' did not match any file(s) known to git",
    ),
    Pair(
        "ssh",
        Different,
        "git@github.com: Permission denied (publickey).\nfatal: Could not read from remote repository.",
        "ssh: connect to host github.com port 22: Connection timed out\nfatal: Could not read from remote repository.",
    ),
    // Shell and system
    Pair(
        "bash",
        Same,
        "Exit code 127\nbash: line 1: jq: command not found",
        "Exit code 127\n/bin/bash: line 12: rg: command not found",
    ),
    Pair(
        "bash",
        Different,
        "Exit code 127\nbash: line 1: deploy.sh: command not found",
        "Exit code 126\nbash: line 1: ./deploy.sh: Permission denied",
    ),
    Pair(
        "cat",
        Same,
        "Exit code 1\ncat: notes.txt: No such file or directory",
        "Exit code 1\ncat: /tmp/tmp.a81Xk/out/log: No such file or directory",
    ),
    Pair(
        "cat",
        Different,
        "cat: /etc/app: Is a directory",
        "cat: /etc/app: Permission denied",
    ),
    Pair(
        "ls",
        Same,
        "ls: cannot access 'foo': No such file or directory",
        "ls: cannot access '/var/lib/x/2026-01-01': No such file or directory",
    ),
    Pair("exit code", Different, "Exit code 1", "Exit code 2"),
    Pair(
        "timeout",
        Same,
        "Command timed out after 2m 0s",
        "Command timed out after 10m 0s",
    ),
    Pair(
        "disk",
        Same,
        "cp: error writing '/mnt/a/big.iso': No space left on device",
        "cp: error writing '/data/backup/2026/x.tar': No space left on device",
    ),
    Pair(
        "apt",
        Same,
        "Reading package lists... Done\nBuilding dependency tree... Done\nE: Unable to locate package ripgrp",
        "Reading package lists...\nE: Unable to locate package libfoo-dev",
    ),
    Pair(
        "apt",
        Different,
        "E: Unable to locate package ripgrp",
        "E: Could not get lock /var/lib/dpkg/lock-frontend. It is held by process 3121 (apt)",
    ),
    // Network
    Pair(
        "curl",
        Same,
        "curl: (6) Could not resolve host: api.exmple.com",
        "  % Total    % Received % Xferd  Average Speed   Time    Time     Time  Current\n                                 Dload  Upload   Total   Spent    Left  Speed\ncurl: (6) Could not resolve host: registry.internal",
    ),
    Pair(
        "curl",
        Different,
        "curl: (22) The requested URL returned error: 404",
        "curl: (22) The requested URL returned error: 503",
    ),
    Pair(
        "http",
        Different,
        "AxiosError: Request failed with status code 401\n    at settle (/a/node_modules/axios/lib/core/settle.js:19:12)",
        "AxiosError: Request failed with status code 429\n    at settle (/a/node_modules/axios/lib/core/settle.js:19:12)",
    ),
    Pair(
        "http",
        Same,
        "requests.exceptions.HTTPError: 404 Client Error: Not Found for url: https://api.x.io/v1/users/12",
        "requests.exceptions.HTTPError: 404 Client Error: Not Found for url: https://api.x.io/v1/orders/77?page=2",
    ),
    Pair(
        "http",
        Different,
        "requests.exceptions.HTTPError: 404 Client Error: Not Found for url: https://api.x.io/v1/users/12",
        "requests.exceptions.HTTPError: 500 Server Error: Internal Server Error for url: https://api.x.io/v1/users/12",
    ),
    Pair(
        "gh",
        Different,
        "{\"message\":\"Bad credentials\",\"documentation_url\":\"https://docs.github.com/rest\",\"status\":\"401\"}",
        "{\"message\":\"Not Found\",\"documentation_url\":\"https://docs.github.com/rest\",\"status\":\"404\"}",
    ),
    // Containers and clouds
    Pair(
        "docker",
        Same,
        "docker: Error response from daemon: Conflict. The container name \"/web\" is already in use by container \"4f1d2c3b9a8e7f60112233445566778899aabbccddeeff001122334455667788\". You have to remove (or rename) that container to be able to reuse that name.",
        "docker: Error response from daemon: Conflict. The container name \"/pg-test\" is already in use by container \"00aa2c3b9a8e7f60112233445566778899aabbccddeeff0011223344556677ff\". You have to remove (or rename) that container to be able to reuse that name.",
    ),
    Pair(
        "docker",
        Different,
        "Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?",
        "docker: Error response from daemon: driver failed programming external connectivity on endpoint web (9f0c1d2e): Bind for 0.0.0.0:80 failed: port is already allocated.",
    ),
    Pair(
        "docker build",
        Same,
        "#8 [4/6] COPY packge.json ./\n#8 ERROR: failed to calculate checksum of ref 3f2a::x1: \"/packge.json\": not found\n------\nERROR: failed to solve: failed to compute cache key: failed to calculate checksum of ref 3f2a9c81-77aa-4b1e-9d0e-0123456789ab::x1y2z3: \"/packge.json\": not found",
        "#12 [7/9] COPY dist ./dist\n#12 ERROR: failed to calculate checksum of ref 99fe::k2: \"/dist\": not found\n------\nERROR: failed to solve: failed to compute cache key: failed to calculate checksum of ref 99fe0c81-77aa-4b1e-9d0e-0123456789cd::q9: \"/dist\": not found",
    ),
    Pair(
        "kubectl",
        Same,
        "Error from server (NotFound): pods \"web-7d4b9c6f5-x2x9z\" not found",
        "Error from server (NotFound): pods \"api-66c8d9f7b4-abcde\" not found",
    ),
    Pair(
        "kubectl",
        Different,
        "Error from server (NotFound): pods \"web\" not found",
        "Error from server (Forbidden): pods \"web\" is forbidden: User \"ann\" cannot get resource \"pods\" in API group \"\" in the namespace \"prod\"",
    ),
    Pair(
        "terraform",
        Same,
        "╷\n│ Error: Unsupported argument\n│ \n│   on main.tf line 3, in resource \"aws_instance\" \"web\":\n│    3:   instance_typ = \"t3.micro\"\n│ \n│ An argument named \"instance_typ\" is not expected here.\n╵",
        "╷\n│ Error: Unsupported argument\n│ \n│   on modules/net/vpc.tf line 41, in resource \"aws_vpc\" \"main\":\n│   41:   cidr = \"10.0.0.0/16\"\n│ \n│ An argument named \"cidr\" is not expected here.\n╵",
    ),
    Pair(
        "aws",
        Different,
        "An error occurred (AccessDenied) when calling the GetObject operation: Access Denied",
        "An error occurred (NoSuchKey) when calling the GetObject operation: The specified key does not exist.",
    ),
    Pair(
        "grpc",
        Different,
        "rpc error: code = Unavailable desc = connection error: desc = \"transport: Error while dialing: dial tcp 10.0.0.4:50051: connect: connection refused\"",
        "rpc error: code = DeadlineExceeded desc = context deadline exceeded",
    ),
    // The client's own tools
    Pair(
        "Read",
        Same,
        "File does not exist. Note: your current working directory is /home/ann/app.",
        "File does not exist. Note: your current working directory is /srv/work/tool.",
    ),
    Pair(
        "Edit",
        Different,
        "<tool_use_error>String to replace not found in file.\nString: let a = 1;</tool_use_error>",
        "<tool_use_error>File has not been read yet. Read it first before writing to it.</tool_use_error>",
    ),
    Pair(
        "Edit",
        Same,
        "<tool_use_error>String to replace not found in file.\nString: let a = 1;</tool_use_error>",
        "<tool_use_error>String to replace not found in file.\nString: def main():\n    pass</tool_use_error>",
    ),
    Pair(
        "Edit",
        Same,
        "<tool_use_error>Found 3 matches of the string to replace, but replace_all is false. To replace all occurrences, set replace_all to true.\nString: x</tool_use_error>",
        "<tool_use_error>Found 12 matches of the string to replace, but replace_all is false. To replace all occurrences, set replace_all to true.\nString: foo()</tool_use_error>",
    ),
    // Error chains and logs
    Pair(
        "anyhow",
        Different,
        "Error: could not read config\n\nCaused by:\n    No such file or directory (os error 2)",
        "Error: could not read config\n\nCaused by:\n    Permission denied (os error 13)",
    ),
    Pair(
        "anyhow",
        Same,
        "Error: could not read /home/ann/.config/a.toml\n\nCaused by:\n    No such file or directory (os error 2)",
        "Error: could not read /etc/tool/b.toml\n\nCaused by:\n    No such file or directory (os error 2)",
    ),
    Pair(
        "log",
        Same,
        "2026-01-05 10:22:31,004 ERROR [worker-3] pool: connection to db1.internal:5432 lost after 30s",
        "2026-03-17 23:01:00,910 ERROR [worker-12] pool: connection to db7.internal:5433 lost after 45s",
    ),
    Pair(
        "colours",
        Same,
        "\u{1b}[0m\u{1b}[1m\u{1b}[38;5;9merror[E0308]\u{1b}[0m\u{1b}[1m: mismatched types\u{1b}[0m\n --> src/a.rs:1:1",
        "error[E0308]: mismatched types\n   --> src/b/c.rs:99:40",
    ),
    // More of the same tools, and others, in other shapes
    Pair(
        "rustc",
        Same,
        "error[E0308]: mismatched types\n --> src/a.rs:4:18\n  |\n4 |     let n: u32 = \"a\";\n  |            ---   ^^^ expected `u32`, found `&str`",
        "error[E0308]: mismatched types\n  --> src/lib/deep/b.rs:91:9\n   |\n91 |         Ok(x)\n   |         ^^^^^ expected `Option<_>`, found `Result<_, _>`",
    ),
    Pair(
        "rustc",
        Different,
        "error[E0277]: the trait bound `Foo: Clone` is not satisfied\n --> src/a.rs:4:18",
        "error[E0277]: `Rc<u32>` cannot be sent between threads safely\n --> src/a.rs:4:18",
    ),
    Pair(
        "clippy",
        Same,
        "error: this expression creates a reference which is immediately dereferenced by the compiler\n  --> src/a.rs:10:11\n   |\n10 |     print(&name);\n   |           ^^^^^ help: change this to: `name`\n   |\n   = note: `-D clippy::needless-borrow` implied by `-D warnings`",
        "    Checking tool v0.2.0\nerror: this expression creates a reference which is immediately dereferenced by the compiler\n  --> src/cli/show.rs:210:31\n   |\n   = help: for further information visit https://rust-lang.github.io/rust-clippy/",
    ),
    Pair(
        "cargo",
        Same,
        "error: failed to select a version for `serde`.\n    ... required by package `app v0.1.0 (/home/ann/app)`\nversions that meet the requirements `^9` are: none",
        "    Updating crates.io index\nerror: failed to select a version for `tokio`.\n    ... required by package `srv v1.0.0 (/x/srv)`\nversions that meet the requirements `=0.9.99` are: none",
    ),
    Pair(
        "python",
        Same,
        "  File \"/home/ann/a.py\", line 3\n    print(\"x\"\n         ^\nSyntaxError: '(' was never closed",
        "  File \"/srv/jobs/run_all.py\", line 118\n    rows = list(filter(None, x)\n               ^\nSyntaxError: '(' was never closed",
    ),
    Pair(
        "python",
        Different,
        "  File \"/home/ann/a.py\", line 3\n    print(\"x\"\n         ^\nSyntaxError: '(' was never closed",
        "  File \"/home/ann/a.py\", line 3\n    if x = 1:\n       ^^^^^\nSyntaxError: invalid syntax. Maybe you meant '==' or ':=' instead of '='?",
    ),
    Pair(
        "python",
        Same,
        "Traceback (most recent call last):\n  File \"a.py\", line 1, in <module>\n    int('x')\nValueError: invalid literal for int() with base 10: 'x'",
        "Traceback (most recent call last):\n  File \"/app/parse.py\", line 40, in read\n    return int(field)\n           ^^^^^^^^^^\nValueError: invalid literal for int() with base 10: '12,50'",
    ),
    Pair(
        "python",
        Different,
        "ValueError: invalid literal for int() with base 10: 'x'",
        "ValueError: too many values to unpack (expected 2)",
    ),
    Pair(
        "python",
        Same,
        "Traceback (most recent call last):\n  File \"a.py\", line 10, in get\n    conn.connect()\nConnectionRefusedError: [Errno 111] Connection refused\n\nDuring handling of the above exception, another exception occurred:\n\nTraceback (most recent call last):\n  File \"b.py\", line 3, in <module>\n    main()\nredis.exceptions.ConnectionError: Error 111 connecting to localhost:6379. Connection refused.",
        "Traceback (most recent call last):\n  File \"/usr/lib/python3/redis/connection.py\", line 559, in connect\nConnectionRefusedError: [Errno 111] Connection refused\n\nDuring handling of the above exception, another exception occurred:\n\nTraceback (most recent call last):\n  File \"/srv/q.py\", line 33, in <module>\nredis.exceptions.ConnectionError: Error 111 connecting to 10.1.2.3:6380. Connection refused.",
    ),
    Pair(
        "asyncio",
        Different,
        "RuntimeError: Event loop is closed",
        "RuntimeError: This event loop is already running",
    ),
    Pair(
        "django",
        Same,
        "django.db.utils.OperationalError: no such table: shop_order",
        "Traceback (most recent call last):\n  File \"manage.py\", line 22, in <module>\n    main()\ndjango.db.utils.OperationalError: no such table: auth_user",
    ),
    Pair(
        "pandas",
        Same,
        "Traceback (most recent call last):\n  File \"a.py\", line 3, in <module>\n    df['price']\n  File \"/usr/lib/python3/pandas/core/frame.py\", line 3761, in __getitem__\n    indexer = self.columns.get_loc(key)\nKeyError: 'price'",
        "Traceback (most recent call last):\n  File \"pandas/_libs/index.pyx\", line 138\nKeyError: 'qty'\n\nThe above exception was the direct cause of the following exception:\n\nTraceback (most recent call last):\n  File \"/x/report.py\", line 9, in <module>\n    t = df['qty'].sum()\nKeyError: 'qty'",
    ),
    Pair(
        "uv",
        Same,
        "  × No solution found when resolving dependencies:\n  ╰─▶ Because only foo<=1.0 is available and you require foo>=2, we can conclude that your requirements are unsatisfiable.",
        "Using Python 3.12.3\n  × No solution found when resolving dependencies:\n  ╰─▶ Because only barlib<=3.2.1 is available and you require barlib>=4, we can conclude that your requirements are unsatisfiable.",
    ),
    Pair(
        "unittest",
        Same,
        "F.\n======================================================================\nFAIL: test_add (tests.test_a.TestSum.test_add)\n----------------------------------------------------------------------\nTraceback (most recent call last):\n  File \"/home/ann/tests/test_a.py\", line 8, in test_add\n    self.assertEqual(add(1, 2), 4)\nAssertionError: 3 != 4\n\n----------------------------------------------------------------------\nRan 2 tests in 0.001s\n\nFAILED (failures=1)",
        "..F...\n======================================================================\nFAIL: test_total (cart.tests.CartTest.test_total)\n----------------------------------------------------------------------\nTraceback (most recent call last):\n  File \"/srv/shop/cart/tests.py\", line 81, in test_total\n    self.assertEqual(cart.total(), 1999)\nAssertionError: 1998 != 1999\n\n----------------------------------------------------------------------\nRan 6 tests in 1.204s\n\nFAILED (failures=1)",
    ),
    Pair(
        "node",
        Same,
        "file:///home/ann/a.mjs:1\nimport { x } from './b.mjs';\n         ^\nSyntaxError: The requested module './b.mjs' does not provide an export named 'x'\n    at ModuleJob._instantiate (node:internal/modules/esm/module_job:134:21)",
        "file:///srv/www/src/app.mjs:14\nimport { loadConfig } from './config/index.mjs';\n         ^^^^^^^^^^\nSyntaxError: The requested module './config/index.mjs' does not provide an export named 'loadConfig'",
    ),
    Pair(
        "node",
        Different,
        "ReferenceError: require is not defined in ES module scope, you can use import instead\n    at file:///a/b.mjs:1:12",
        "ReferenceError: fetchAll is not defined\n    at file:///a/b.mjs:1:12",
    ),
    Pair(
        "node",
        Same,
        "/a/x.js:3\n    foo();\n    ^\n\nReferenceError: foo is not defined\n    at Object.<anonymous> (/a/x.js:3:5)",
        "/srv/lib/deep/y.js:90\n  return loadRows(id);\n  ^\n\nReferenceError: loadRows is not defined\n    at get (/srv/lib/deep/y.js:90:3)",
    ),
    Pair(
        "node",
        Same,
        "[Error: ENOENT: no such file or directory, open 'config.json'] {\n  errno: -2,\n  code: 'ENOENT',\n  syscall: 'open',\n  path: 'config.json'\n}",
        "node:internal/process/promises:288\n            triggerUncaughtException(err, true /* fromPromise */);\n            ^\n\n[Error: ENOENT: no such file or directory, open '/srv/data/2026/rows.csv'] {\n  errno: -2,\n  code: 'ENOENT',\n  syscall: 'open',\n  path: '/srv/data/2026/rows.csv'\n}",
    ),
    Pair(
        "webpack",
        Different,
        "ERROR in ./src/index.js 1:0-28\nModule not found: Error: Can't resolve './app' in '/home/ann/w/src'",
        "ERROR in ./src/index.js\nModule parse failed: Unexpected token (3:4)\nYou may need an appropriate loader to handle this file type",
    ),
    Pair(
        "webpack",
        Same,
        "ERROR in ./src/index.js 1:0-28\nModule not found: Error: Can't resolve './app' in '/home/ann/w/src'",
        "assets by status 1.2 KiB [cached] 1 asset\nERROR in ./packages/ui/main.tsx 14:0-40\nModule not found: Error: Can't resolve '@acme/theme' in '/srv/ci/w/packages/ui'",
    ),
    Pair(
        "vite",
        Same,
        "[vite]: Rollup failed to resolve import \"lodash\" from \"/home/ann/app/src/a.ts\".\nThis is most likely unintended because it can break your application at runtime.",
        "vite v5.1.4 building for production...\n[vite]: Rollup failed to resolve import \"@/store\" from \"/srv/w/src/main.ts\".\nThis is most likely unintended because it can break your application at runtime.",
    ),
    Pair(
        "pnpm",
        Same,
        " ERR_PNPM_OUTDATED_LOCKFILE  Cannot install with \"frozen-lockfile\" because pnpm-lock.yaml is not up to date with package.json",
        " ERR_PNPM_OUTDATED_LOCKFILE  Cannot install with \"frozen-lockfile\" because pnpm-lock.yaml is not up to date with <ROOT>/packages/a/package.json",
    ),
    Pair(
        "yarn",
        Same,
        "yarn run v1.22.19\nerror Command \"biuld\" not found.\ninfo Visit https://yarnpkg.com/en/docs/cli/run for documentation about this command.",
        "yarn run v1.22.21\nerror Command \"typecheck\" not found.\ninfo Visit https://yarnpkg.com/en/docs/cli/run for documentation about this command.",
    ),
    Pair(
        "playwright",
        Same,
        "  1) [chromium] › login.spec.ts:5:1 › logs in\n\n    Error: Timed out 5000ms waiting for expect(locator).toBeVisible()\n\n    Locator: getByText('Welcome')",
        "  1) [firefox] › tests/cart.spec.ts:44:3 › cart › pays\n\n    Error: Timed out 10000ms waiting for expect(locator).toBeVisible()\n\n    Locator: getByRole('button', { name: 'Pay' })",
    ),
    Pair(
        "go",
        Same,
        "--- FAIL: TestAdd (0.00s)\n    add_test.go:8: Add(1, 2) = 3, want 4\nFAIL\nFAIL\texample.com/app\t0.002s\nFAIL",
        "=== RUN   TestAdd\n--- FAIL: TestAdd (0.01s)\n    add_test.go:19: Add(2, 2) = 5, want 4\nFAIL\nexit status 1\nFAIL\texample.com/app\t0.113s",
    ),
    Pair(
        "go",
        Different,
        "# example.com/app\n./main.go:4:2: \"os\" imported and not used",
        "# example.com/app\n./main.go:4:2: missing return",
    ),
    Pair(
        "go",
        Same,
        "./main.go:9:14: cannot use \"a\" (untyped string constant) as int value in argument to f",
        "pkg/x/y.go:120:9: cannot use \"hello world\" (untyped string constant) as int value in argument to send",
    ),
    Pair(
        "go",
        Same,
        "fatal error: all goroutines are asleep - deadlock!\n\ngoroutine 1 [chan receive]:\nmain.main()\n\t/a/main.go:5 +0x30\nexit status 2",
        "fatal error: all goroutines are asleep - deadlock!\n\ngoroutine 1 [semacquire]:\nsync.runtime_Semacquire(0xc0000b4008)\n\t/usr/lib/go/src/runtime/sema.go:62 +0x25\nexit status 2",
    ),
    Pair(
        "java",
        Same,
        "java.lang.OutOfMemoryError: Java heap space\n\tat java.util.Arrays.copyOf(Arrays.java:3332)",
        "Exception in thread \"pool-1-thread-4\" java.lang.OutOfMemoryError: Java heap space\n\tat com.acme.Big.load(Big.java:12)",
    ),
    Pair(
        "java",
        Different,
        "java.lang.OutOfMemoryError: Java heap space",
        "java.lang.OutOfMemoryError: Metaspace",
    ),
    Pair(
        "maven",
        Same,
        "[INFO] Scanning for projects...\n[ERROR] COMPILATION ERROR : \n[INFO] -------------------------------------------------------------\n[ERROR] /home/ann/a/src/main/java/A.java:[10,5] cannot find symbol\n  symbol:   class Foo\n  location: class A\n[INFO] 1 error\n[INFO] BUILD FAILURE",
        "[INFO] Building shop 2.1\n[ERROR] COMPILATION ERROR : \n[INFO] -------------------------------------------------------------\n[ERROR] /srv/x/src/main/java/com/acme/Zeta.java:[201,33] cannot find symbol\n  symbol:   class Rows\n  location: class com.acme.Zeta\n[INFO] 1 error\n[INFO] BUILD FAILURE",
    ),
    Pair(
        "scala",
        Same,
        "[error] /home/ann/a/src/main/scala/A.scala:3:7: not found: value foo\n[error]   foo(1)\n[error]   ^\n[error] one error found",
        "[info] compiling 14 Scala sources to /x ...\n[error] /srv/x/src/main/scala/b/B.scala:77:19: not found: value rows\n[error]     total(rows)\n[error]           ^\n[error] one error found",
    ),
    Pair(
        "dotnet",
        Same,
        "Unhandled exception. System.IO.FileNotFoundException: Could not find file '/home/ann/a.txt'.\nFile name: '/home/ann/a.txt'\n   at Program.<Main>$(String[] args) in /home/ann/Program.cs:line 3",
        "Unhandled exception. System.IO.FileNotFoundException: Could not find file 'C:\\data\\in.csv'.\nFile name: 'C:\\data\\in.csv'\n   at Acme.Load.Run() in C:\\w\\Load.cs:line 90",
    ),
    Pair(
        "nuget",
        Different,
        "/a/a.csproj : error NU1101: Unable to find package Foo.Bar. No packages exist with this id in source(s): nuget.org",
        "/a/a.csproj : error NU1605: Detected package downgrade: Foo.Bar from 2.0.0 to 1.0.0.",
    ),
    Pair(
        "rspec",
        Same,
        "Failures:\n\n  1) Cart totals the rows\n     Failure/Error: expect(cart.total).to eq(4)\n\n       expected: 4\n            got: 3\n\n       (compared using ==)\n     # ./spec/cart_spec.rb:5\n\n1 example, 1 failure",
        "Failures:\n\n  1) Cart totals the rows\n     Failure/Error: expect(cart.total).to eq(12)\n\n       expected: 12\n            got: 11\n\n       (compared using ==)\n     # ./spec/models/cart_spec.rb:44\n\n8 examples, 1 failure",
    ),
    Pair(
        "rails",
        Same,
        "ActiveRecord::PendingMigrationError: \n\nMigrations are pending. To resolve this issue, run:\n\n        bin/rails db:migrate RAILS_ENV=test",
        "rake aborted!\nActiveRecord::PendingMigrationError: \n\nMigrations are pending. To resolve this issue, run:\n\n        bin/rails db:migrate RAILS_ENV=development",
    ),
    Pair(
        "composer",
        Different,
        "Your requirements could not be resolved to an installable set of packages.\n\n  Problem 1\n    - Root composer.json requires php ^8.3 but your php version (8.1.2) does not satisfy that requirement.",
        "Fatal error: Allowed memory size of 134217728 bytes exhausted (tried to allocate 4096 bytes) in phar:///usr/bin/composer/src/X.php on line 223",
    ),
    Pair(
        "php",
        Same,
        "Fatal error: Allowed memory size of 134217728 bytes exhausted (tried to allocate 4096 bytes) in /a/b.php on line 223",
        "Fatal error: Allowed memory size of 268435456 bytes exhausted (tried to allocate 20480 bytes) in /var/www/x/y.php on line 4",
    ),
    Pair(
        "postgres",
        Different,
        "psql: error: connection to server at \"localhost\" (127.0.0.1), port 5432 failed: Connection refused\n\tIs the server running on that host and accepting TCP/IP connections?",
        "psql: error: connection to server at \"localhost\" (127.0.0.1), port 5432 failed: FATAL:  password authentication failed for user \"ann\"",
    ),
    Pair(
        "postgres",
        Same,
        "ERROR:  syntax error at or near \"FORM\"\nLINE 1: SELECT * FORM users;\n                 ^",
        "psql:/x/y.sql:40: ERROR:  syntax error at or near \"WHRE\"\nLINE 9: WHRE id = 1\n        ^",
    ),
    Pair(
        "postgres",
        Different,
        "sqlalchemy.exc.ProgrammingError: (psycopg2.errors.UndefinedTable) relation \"users\" does not exist\nLINE 1: SELECT 1 FROM users",
        "sqlalchemy.exc.ProgrammingError: (psycopg2.errors.UndefinedColumn) column users.nme does not exist\nLINE 1: SELECT nme FROM users",
    ),
    Pair(
        "redis",
        Different,
        "(error) WRONGTYPE Operation against a key holding the wrong kind of value",
        "(error) NOAUTH Authentication required.",
    ),
    Pair(
        "mongo",
        Same,
        "MongoServerError: E11000 duplicate key error collection: shop.users index: email_1 dup key: { email: \"a@b.c\" }\n    at x (/a/b.js:1:1)",
        "MongoServerError: E11000 duplicate key error collection: crm.people index: phone_1 dup key: { phone: \"+4912345\" }\n    at y (/c/d.js:9:9)",
    ),
    Pair(
        "git",
        Different,
        "fatal: unable to access 'https://github.com/a/b.git/': Could not resolve host: github.com",
        "fatal: unable to access 'https://github.com/a/b.git/': The requested URL returned error: 403",
    ),
    Pair(
        "git",
        Same,
        "fatal: unable to access 'https://github.com/a/b.git/': Could not resolve host: github.com",
        "Cloning into 'x'...\nfatal: unable to access 'https://git.acme.io/x/y/z.git/': Could not resolve host: git.acme.io",
    ),
    Pair(
        "git",
        Same,
        "error: Your local changes to the following files would be overwritten by checkout:\n\tsrc/a.rs\nPlease commit your changes or stash them before you switch branches.\nAborting",
        "error: Your local changes to the following files would be overwritten by checkout:\n\tCargo.toml\n\tREADME.md\nPlease commit your changes or stash them before you switch branches.\nAborting",
    ),
    Pair(
        "git",
        Same,
        "fatal: Unable to create '/home/ann/a/.git/index.lock': File exists.\n\nAnother git process seems to be running in this repository",
        "fatal: Unable to create '/srv/x/repo/.git/index.lock': File exists.\n\nAnother git process seems to be running in this repository",
    ),
    Pair(
        "git",
        Different,
        "fatal: Unable to create '/home/ann/a/.git/index.lock': File exists.",
        "fatal: Unable to create '/home/ann/a/.git/index.lock': Permission denied",
    ),
    Pair(
        "bash",
        Same,
        "./run.sh: line 4: DB_URL: unbound variable",
        "/srv/deploy.sh: line 88: API_TOKEN: unbound variable",
    ),
    Pair(
        "bash",
        Same,
        "bash: -c: line 1: unexpected EOF while looking for matching `\"'\nbash: -c: line 2: syntax error: unexpected end of file",
        "bash: -c: line 12: unexpected EOF while looking for matching `\"'",
    ),
    Pair(
        "zsh",
        Different,
        "zsh: command not found: pyhton",
        "zsh: no matches found: src/*.foo",
    ),
    Pair(
        "mkdir",
        Different,
        "mkdir: cannot create directory 'a': File exists",
        "mkdir: cannot create directory 'a/b/c': No such file or directory",
    ),
    Pair(
        "rm",
        Same,
        "rm: cannot remove 'build': Is a directory",
        "rm: cannot remove '/tmp/tmp.9fK2/out': Is a directory",
    ),
    Pair(
        "sed",
        Same,
        "sed: -e expression #1, char 12: unterminated `s' command",
        "sed: -e expression #2, char 31: unterminated `s' command",
    ),
    Pair(
        "sed",
        Different,
        "sed: -e expression #1, char 12: unterminated `s' command",
        "sed: -e expression #1, char 12: unknown option to `s'",
    ),
    Pair(
        "tar",
        Same,
        "tar: a.tgz: Cannot open: No such file or directory\ntar: Error is not recoverable: exiting now",
        "tar: /mnt/backup/2026-01-02.tar.gz: Cannot open: No such file or directory\ntar: Error is not recoverable: exiting now",
    ),
    Pair(
        "jq",
        Same,
        "jq: error (at <stdin>:1): Cannot index string with string \"name\"",
        "jq: error (at <stdin>:42): Cannot index string with string \"id\"",
    ),
    Pair(
        "jq",
        Different,
        "jq: error (at <stdin>:1): Cannot index string with string \"name\"",
        "jq: error (at <stdin>:1): Cannot iterate over null (null)",
    ),
    Pair(
        "systemctl",
        Same,
        "Failed to restart nginx.service: Unit nginx.service not found.",
        "Failed to restart my-app.service: Unit my-app.service not found.",
    ),
    Pair(
        "signal",
        Different,
        "error: process exited with signal 9",
        "error: process exited with signal 11",
    ),
    Pair(
        "openssl",
        Same,
        "curl: (60) SSL certificate problem: unable to get local issuer certificate\nMore details here: https://curl.se/docs/sslcerts.html",
        "curl: (60) SSL certificate problem: unable to get local issuer certificate",
    ),
    Pair(
        "curl",
        Different,
        "curl: (7) Failed to connect to localhost port 8080 after 0 ms: Couldn't connect to server",
        "curl: (28) Operation timed out after 5001 milliseconds with 0 bytes received",
    ),
    Pair(
        "curl",
        Same,
        "curl: (7) Failed to connect to localhost port 8080 after 0 ms: Couldn't connect to server",
        "curl: (7) Failed to connect to 10.0.0.7 port 9200 after 3 ms: Couldn't connect to server",
    ),
    Pair(
        "http",
        Same,
        "HTTP/1.1 502 Bad Gateway\nServer: nginx/1.24.0\nDate: Mon, 05 Jan 2026 10:00:00 GMT",
        "HTTP/2 502 Bad Gateway\nserver: cloudflare\ndate: Tue, 10 Feb 2026 08:10:11 GMT",
    ),
    Pair(
        "docker compose",
        Same,
        "service \"db\" has neither an image nor a build context specified: invalid compose project",
        "service \"cache\" has neither an image nor a build context specified: invalid compose project",
    ),
    Pair(
        "docker",
        Same,
        "Unable to find image 'ngnx:latest' locally\ndocker: Error response from daemon: pull access denied for ngnx, repository does not exist or may require 'docker login': denied: requested access to the resource is denied.",
        "Unable to find image 'acme/api:1.4.2' locally\ndocker: Error response from daemon: pull access denied for acme/api, repository does not exist or may require 'docker login': denied: requested access to the resource is denied.",
    ),
    Pair(
        "kubectl",
        Different,
        "The connection to the server localhost:8080 was refused - did you specify the right host or port?",
        "error: You must be logged in to the server (Unauthorized)",
    ),
    Pair(
        "helm",
        Same,
        "Error: INSTALLATION FAILED: cannot re-use a name that is still in use",
        "Error: INSTALLATION FAILED: cannot re-use a name that is still in use\nhelm.go:84: [debug] cannot re-use a name that is still in use",
    ),
    Pair(
        "terraform",
        Different,
        "╷\n│ Error: Unsupported argument\n│ \n│   on main.tf line 3, in resource \"aws_instance\" \"web\":",
        "╷\n│ Error: Reference to undeclared resource\n│ \n│   on main.tf line 3, in resource \"aws_instance\" \"web\":",
    ),
    Pair(
        "ansible",
        Same,
        "TASK [install nginx] ***\nfatal: [web1]: FAILED! => {\"changed\": false, \"msg\": \"No package matching 'ngnix' is available\"}",
        "TASK [install tools] ***\nfatal: [db-03.internal]: FAILED! => {\"changed\": false, \"msg\": \"No package matching 'jqq' is available\"}",
    ),
    Pair(
        "protoc",
        Same,
        "user.proto:12:3: \"Adress\" is not defined.",
        "api/v1/order.proto:204:5: \"LineItm\" is not defined.",
    ),
    Pair(
        "shellcheck",
        Different,
        "In a.sh line 3:\nrm $x\n   ^-- SC2086 (info): Double quote to prevent globbing and word splitting.",
        "In a.sh line 3:\ncd $x\n^---^ SC2164 (warning): Use 'cd ... || exit' or 'cd ... || return' in case cd fails.",
    ),
    Pair(
        "latex",
        Same,
        "! Undefined control sequence.\nl.14 \\foo\n         {x}",
        "(./chap/two.tex [12]\n! Undefined control sequence.\nl.331 \\argmin\n               _x",
    ),
    Pair(
        "zig",
        Same,
        "src/main.zig:3:5: error: use of undeclared identifier 'prnt'\n    prnt(\"a\", .{});\n    ^~~~",
        "lib/a/b.zig:120:17: error: use of undeclared identifier 'gpa'\n        const x = gpa.alloc(u8, 1);\n                  ^~~",
    ),
    Pair(
        "dart",
        Same,
        "lib/main.dart:5:3: Error: Method not found: 'prnt'.\n  prnt('x');\n  ^^^^",
        "lib/src/ui/page.dart:210:18: Error: Method not found: 'buildRow'.\n          return buildRow(x);\n                 ^^^^^^^^",
    ),
    Pair(
        "Glob",
        Different,
        "Path does not exist: /home/ann/app/srcs",
        "Path is not a directory: /home/ann/app/src/main.rs",
    ),
    Pair(
        "WebFetch",
        Different,
        "Request failed with status code 403",
        "Request failed with status code 404",
    ),
    Pair(
        "MCP",
        Same,
        "MCP error -32602: Invalid params: \"path\" is required",
        "MCP error -32602: Invalid params: \"repository\" is required",
    ),
    Pair(
        "MCP",
        Different,
        "MCP error -32602: Invalid params: \"path\" is required",
        "MCP error -32001: Request timed out",
    ),
    Pair(
        "InputValidation",
        Same,
        "<tool_use_error>InputValidationError: Read failed due to the following issue:\nThe required parameter `file_path` is missing</tool_use_error>",
        "<tool_use_error>InputValidationError: Read failed due to the following issue:\nThe required parameter `offset` is missing</tool_use_error>",
    ),
    // A third set, in yet other shapes
    Pair(
        "rustc",
        Same,
        "error[E0432]: unresolved import `crate::db`\n --> src/main.rs:2:5\n  |\n2 | use crate::db;\n  |     ^^^^^^^^^ no `db` in the root",
        "error[E0432]: unresolved import `serde_yaml`\n  --> src/config/load.rs:14:5\n   |\n14 | use serde_yaml;\n   |     ^^^^^^^^^^ no external crate `serde_yaml`",
    ),
    Pair(
        "rustc",
        Same,
        "error[E0599]: no method named `foo` found for struct `Bar` in the current scope\n --> src/a.rs:9:7",
        "error[E0599]: no method named `push_all` found for struct `Vec<u8>` in the current scope\n  --> src/x/y.rs:120:22\n   |\n120 |     v.push_all(&[1]);\n   |       ^^^^^^^^ method not found in `Vec<u8>`",
    ),
    Pair(
        "cargo",
        Different,
        "error: could not find `Cargo.toml` in `/tmp/x` or any parent directory",
        "error: failed to parse manifest at `/tmp/x/Cargo.toml`\n\nCaused by:\n  missing field `package`",
    ),
    Pair(
        "cargo",
        Same,
        "error: could not find `Cargo.toml` in `/tmp/x` or any parent directory",
        "error: could not find `Cargo.toml` in `/home/ann/work/tools` or any parent directory",
    ),
    Pair(
        "python",
        Same,
        "Traceback (most recent call last):\n  File \"/a/b.py\", line 4, in <module>\n    json.loads(s)\n  File \"/usr/lib/python3.11/json/decoder.py\", line 355, in raw_decode\n    raise JSONDecodeError(\"Expecting value\", s, err.value) from None\njson.decoder.JSONDecodeError: Expecting value: line 1 column 1 (char 0)",
        "Traceback (most recent call last):\n  File \"/srv/import.py\", line 88, in main\n    data = json.load(f)\njson.decoder.JSONDecodeError: Expecting value: line 14 column 33 (char 512)",
    ),
    Pair(
        "python",
        Different,
        "json.decoder.JSONDecodeError: Expecting value: line 1 column 1 (char 0)",
        "json.decoder.JSONDecodeError: Extra data: line 2 column 1 (char 17)",
    ),
    Pair(
        "python",
        Same,
        "/usr/bin/python3: No module named pytest",
        "/home/ann/.venv/bin/python: No module named black",
    ),
    Pair(
        "python",
        Same,
        "Traceback (most recent call last):\n  File \"a.py\", line 3\nUnicodeDecodeError: 'utf-8' codec can't decode byte 0xff in position 0: invalid start byte",
        "Traceback (most recent call last):\n  File \"/x/read.py\", line 90, in rows\nUnicodeDecodeError: 'utf-8' codec can't decode byte 0x92 in position 1432: invalid start byte",
    ),
    Pair(
        "python",
        Same,
        "  File \"a.py\", line 12\n    return x\n    ^\nIndentationError: unexpected indent",
        "  File \"/srv/app/views.py\", line 230\n    if a:\nIndentationError: unexpected indent",
    ),
    Pair(
        "python",
        Same,
        "RecursionError: maximum recursion depth exceeded while calling a Python object",
        "Traceback (most recent call last):\n  File \"t.py\", line 2, in f\n    return f(n)\n  [Previous line repeated 996 more times]\nRecursionError: maximum recursion depth exceeded while calling a Python object",
    ),
    Pair(
        "pytest",
        Same,
        "ERROR: file or directory not found: tests/test_foo.py\n\n============================ no tests ran in 0.00s =============================",
        "ERROR: file or directory not found: test/unit/bar_test.py\n\ncollected 0 items",
    ),
    Pair(
        "pytest",
        Same,
        "E       fixture 'db' not found\n>       available fixtures: cache, capfd, capsys\n>       use 'pytest --fixtures [testpath]' for help on them.\n\n/a/test_x.py:3",
        "E       fixture 'client' not found\n>       available fixtures: app, cache, tmp_path\n\n/srv/tests/test_api.py:44",
    ),
    Pair(
        "node",
        Same,
        "internal/fs/utils.js:332\n    throw err;\n    ^\n\nError: EACCES: permission denied, mkdir '/usr/lib/node_modules/x'",
        "Error: EACCES: permission denied, mkdir '/opt/cache'\n    at Object.mkdirSync (node:fs:1379:3)",
    ),
    Pair(
        "node",
        Different,
        "(node:1234) UnhandledPromiseRejectionWarning: Error: timeout of 5000ms exceeded",
        "Error: socket hang up\n    at connResetException (node:internal/errors:720:14)",
    ),
    Pair(
        "tsc",
        Same,
        "error TS5023: Unknown compiler option 'strct'.",
        "tsconfig.json:4:5 - error TS5023: Unknown compiler option 'modul'.",
    ),
    Pair(
        "tsc",
        Same,
        "src/a.ts:1:20 - error TS2307: Cannot find module 'lodash' or its corresponding type declarations.",
        "app/pages/index.tsx(3,22): error TS2307: Cannot find module '@/lib/db' or its corresponding type declarations.",
    ),
    Pair(
        "npm",
        Same,
        "npm ERR! code ENOENT\nnpm ERR! syscall open\nnpm ERR! path /home/ann/x/package.json\nnpm ERR! errno -2",
        "npm error code ENOENT\nnpm error syscall open\nnpm error path /srv/w/package.json\nnpm error errno -2",
    ),
    Pair(
        "npm",
        Different,
        "npm ERR! code ENOENT\nnpm ERR! syscall open\nnpm ERR! path /home/ann/x/package.json",
        "npm ERR! code EACCES\nnpm ERR! syscall mkdir\nnpm ERR! path /usr/lib/node_modules",
    ),
    Pair(
        "vitest",
        Same,
        " FAIL  src/a.test.ts > sum > adds\nAssertionError: expected 3 to be 4 // Object.is equality\n\n- Expected\n+ Received",
        " FAIL  test/cart.spec.ts > cart > total\nAssertionError: expected 199 to be 200 // Object.is equality\n ❯ test/cart.spec.ts:14:20",
    ),
    Pair(
        "go",
        Same,
        "go: example.com/foo@v1.2.3: reading example.com/foo/go.mod at revision v1.2.3: unknown revision v1.2.3",
        "go: github.com/acme/bar@v0.9.0: reading github.com/acme/bar/go.mod at revision v0.9.0: unknown revision v0.9.0",
    ),
    Pair(
        "go",
        Same,
        "./a.go:12:9: x.Foo undefined (type *Bar has no field or method Foo)",
        "internal/srv/http.go:233:14: s.handler undefined (type *Server has no field or method handler)",
    ),
    Pair(
        "go vet",
        Same,
        "./a.go:5:2: fmt.Printf format %d has arg s of wrong type string",
        "pkg/log/log.go:88:3: fmt.Printf format %d has arg name of wrong type string",
    ),
    Pair(
        "java",
        Same,
        "Error: Could not find or load main class Main\nCaused by: java.lang.ClassNotFoundException: Main",
        "Error: Could not find or load main class com.acme.App\nCaused by: java.lang.ClassNotFoundException: com.acme.App",
    ),
    Pair(
        "java",
        Same,
        "Exception in thread \"main\" java.lang.ArrayIndexOutOfBoundsException: Index 5 out of bounds for length 5\n\tat A.main(A.java:3)",
        "Exception in thread \"main\" java.lang.ArrayIndexOutOfBoundsException: Index 12 out of bounds for length 10\n\tat com.x.B.run(B.java:77)",
    ),
    Pair(
        "java",
        Same,
        "java.lang.UnsupportedClassVersionError: Foo has been compiled by a more recent version of the Java Runtime (class file version 65.0)",
        "java.lang.UnsupportedClassVersionError: com/acme/Bar has been compiled by a more recent version of the Java Runtime (class file version 61.0)",
    ),
    Pair(
        "gcc",
        Same,
        "a.c:1:10: fatal error: foo.h: No such file or directory\n    1 | #include <foo.h>\n      |          ^~~~~~~\ncompilation terminated.",
        "src/net.c:14:10: fatal error: openssl/ssl.h: No such file or directory\n   14 | #include <openssl/ssl.h>\ncompilation terminated.",
    ),
    Pair(
        "gcc",
        Different,
        "a.cpp:4:8: error: 'string' does not name a type",
        "a.cpp:4:8: error: 'string' was not declared in this scope",
    ),
    Pair(
        "git",
        Same,
        "error: failed to push some refs to 'origin'\nfatal: The current branch foo has no upstream branch.\nTo push the current branch and set the remote as upstream, use\n\n    git push --set-upstream origin foo",
        "fatal: The current branch feature/x has no upstream branch.\nTo push the current branch and set the remote as upstream, use",
    ),
    Pair(
        "git",
        Same,
        "fatal: ambiguous argument 'foo': unknown revision or path not in the working tree.\nUse '--' to separate paths from revisions",
        "fatal: ambiguous argument 'HEAD~40': unknown revision or path not in the working tree.",
    ),
    Pair(
        "git",
        Same,
        "fatal: Authentication failed for 'https://github.com/a/b.git/'",
        "remote: Support for password authentication was removed on August 13, 2021.\nfatal: Authentication failed for 'https://github.com/acme/svc.git/'",
    ),
    Pair(
        "git",
        Different,
        "fatal: Authentication failed for 'https://github.com/a/b.git/'",
        "remote: Repository not found.\nfatal: repository 'https://github.com/a/b.git/' not found",
    ),
    Pair(
        "docker",
        Same,
        "Error response from daemon: No such container: web",
        "Error response from daemon: No such container: 4f1d2c3b9a8e",
    ),
    Pair(
        "docker",
        Different,
        "Error response from daemon: No such container: web",
        "Error response from daemon: No such image: web:latest",
    ),
    Pair(
        "docker",
        Same,
        "docker: Error response from daemon: driver failed programming external connectivity on endpoint web (9f0c1d2e3a4b): Bind for 0.0.0.0:80 failed: port is already allocated.",
        "docker: Error response from daemon: driver failed programming external connectivity on endpoint api-1 (77aa1d2e3a4b): Bind for 0.0.0.0:5432 failed: port is already allocated.",
    ),
    Pair(
        "kubectl",
        Same,
        "error: error validating \"a.yaml\": error validating data: unknown field \"spec.replica\" in io.k8s.api.apps.v1.DeploymentSpec",
        "error: error validating \"deploy/b.yaml\": error validating data: unknown field \"spec.imagePullPolicy\" in io.k8s.api.core.v1.PodSpec",
    ),
    Pair(
        "kubectl",
        Same,
        "Unable to connect to the server: dial tcp 10.0.0.1:6443: i/o timeout",
        "Unable to connect to the server: dial tcp 192.168.49.2:8443: i/o timeout",
    ),
    Pair(
        "psql",
        Same,
        "psql: error: connection to server on socket \"/var/run/postgresql/.s.PGSQL.5432\" failed: FATAL:  role \"ann\" does not exist",
        "psql: error: connection to server on socket \"/tmp/.s.PGSQL.5433\" failed: FATAL:  role \"root\" does not exist",
    ),
    Pair(
        "psql",
        Different,
        "psql: error: connection to server on socket \"/x/.s.PGSQL.5432\" failed: FATAL:  role \"ann\" does not exist",
        "psql: error: connection to server on socket \"/x/.s.PGSQL.5432\" failed: FATAL:  database \"ann\" does not exist",
    ),
    Pair(
        "sqlite",
        Same,
        "sqlite3.IntegrityError: UNIQUE constraint failed: users.email",
        "sqlite3.IntegrityError: UNIQUE constraint failed: orders.number",
    ),
    Pair(
        "sqlite",
        Different,
        "sqlite3.IntegrityError: UNIQUE constraint failed: users.email",
        "sqlite3.IntegrityError: NOT NULL constraint failed: users.email",
    ),
    Pair(
        "bash",
        Same,
        "bash: cd: foo: No such file or directory",
        "/bin/bash: line 3: cd: /srv/app/dist: No such file or directory",
    ),
    Pair(
        "bash",
        Same,
        "/bin/bash: ./build.sh: /bin/zsh: bad interpreter: No such file or directory",
        "bash: ./run: /usr/bin/python2: bad interpreter: No such file or directory",
    ),
    Pair(
        "sh",
        Same,
        "sh: 1: tsc: not found",
        "sh: 1: next: not found",
    ),
    Pair(
        "find",
        Same,
        "find: 'foo': No such file or directory",
        "find: ‘/srv/data/old’: No such file or directory",
    ),
    Pair(
        "grep",
        Different,
        "grep: Unmatched [, [^, [:, [., or [=",
        "grep: src: Is a directory",
    ),
    Pair(
        "make",
        Different,
        "make: *** No targets specified and no makefile found.  Stop.",
        "make: *** No rule to make target 'test'.  Stop.",
    ),
    Pair(
        "cmake",
        Different,
        "CMake Error: The source directory \"/a/b\" does not appear to contain CMakeLists.txt.",
        "CMake Error at CMakeLists.txt:1 (cmake_minimum_required):\n  CMake 3.28 or higher is required.  You are running version 3.22.1",
    ),
    Pair(
        "terraform",
        Same,
        "╷\n│ Error: error configuring Terraform AWS Provider: no valid credential sources for Terraform AWS Provider found.\n│\n╵",
        "Planning failed.\n╷\n│ Error: error configuring Terraform AWS Provider: no valid credential sources for Terraform AWS Provider found.\n│\n│   with provider[\"registry.terraform.io/hashicorp/aws\"],\n│   on main.tf line 1\n╵",
    ),
    Pair(
        "brew",
        Same,
        "Error: No available formula with the name \"ripgrp\". Did you mean ripgrep?",
        "Error: No available formula with the name \"jqq\".",
    ),
    Pair(
        "requests",
        Same,
        "requests.exceptions.ConnectionError: HTTPSConnectionPool(host='api.x.io', port=443): Max retries exceeded with url: /v1 (Caused by NewConnectionError('<urllib3.connection.HTTPSConnection object at 0x7f1c>: Failed to establish a new connection: [Errno -2] Name or service not known'))",
        "requests.exceptions.ConnectionError: HTTPSConnectionPool(host='db.internal', port=8443): Max retries exceeded with url: /q?x=1 (Caused by NewConnectionError('<urllib3.connection.HTTPSConnection object at 0x7faa22>: Failed to establish a new connection: [Errno -2] Name or service not known'))",
    ),
    // A fourth set
    Pair(
        "rustc",
        Same,
        "error[E0063]: missing field `b` in initializer of `A`\n --> src/a.rs:9:7",
        "error[E0063]: missing fields `host`, `port` and `user` in initializer of `Config`\n  --> src/x/y.rs:44:9",
    ),
    Pair(
        "rustc",
        Same,
        "error: linking with `cc` failed: exit status: 1\n  |\n  = note: LC_ALL=\"C\" \"cc\" \"-m64\" \"/tmp/rustc1\"\n  = note: /usr/bin/ld: cannot find -lssl\n          collect2: error: ld returned 1 exit status",
        "error: linking with `cc` failed: exit status: 1\n  |\n  = note: \"cc\" \"-m64\" \"/tmp/rustcZZ\"\n  = note: /usr/bin/ld: cannot find -lssl: No such file or directory",
    ),
    Pair(
        "cargo",
        Same,
        "error: package `foo v1.0.0` cannot be built because it requires rustc 1.85 or newer, while the currently active rustc version is 1.70.0",
        "error: package `clap v4.6.0` cannot be built because it requires rustc 1.90.1 or newer, while the currently active rustc version is 1.88.0",
    ),
    Pair(
        "python",
        Same,
        "Traceback (most recent call last):\n  File \"a.py\", line 2, in <module>\n    import foo.bar\nModuleNotFoundError: No module named 'foo.bar'; 'foo' is not a package",
        "Traceback (most recent call last):\n  File \"/x/b.py\", line 20, in <module>\nModuleNotFoundError: No module named 'util.text'; 'util' is not a package",
    ),
    Pair(
        "python",
        Same,
        "Traceback (most recent call last):\n  File \"a.py\", line 6, in <module>\n    x + 'a'\nTypeError: unsupported operand type(s) for +: 'int' and 'str'",
        "Traceback (most recent call last):\n  File \"/srv/sum.py\", line 61, in total\nTypeError: unsupported operand type(s) for +: 'NoneType' and 'int'",
    ),
    Pair(
        "python",
        Same,
        "NameError: name 'foo' is not defined",
        "Traceback (most recent call last):\n  File \"b.py\", line 33, in run\n    load_all()\nNameError: name 'load_all' is not defined. Did you mean: 'load'?",
    ),
    Pair(
        "python",
        Different,
        "NameError: name 'foo' is not defined",
        "UnboundLocalError: cannot access local variable 'foo' where it is not associated with a value",
    ),
    Pair(
        "python",
        Same,
        "usage: a.py [-h] [--out OUT]\na.py: error: unrecognized arguments: --verbose",
        "usage: run.py [-h] path\nrun.py: error: unrecognized arguments: -x --fast",
    ),
    Pair(
        "python",
        Same,
        "a.py: error: argument --mode: invalid choice: 'x' (choose from 'a', 'b')",
        "run.py: error: argument --level: invalid choice: 'hi' (choose from 'low', 'mid', 'high')",
    ),
    Pair(
        "numpy",
        Same,
        "ValueError: operands could not be broadcast together with shapes (3,) (4,)",
        "Traceback (most recent call last):\n  File \"m.py\", line 8, in f\nValueError: operands could not be broadcast together with shapes (100,3) (4,100)",
    ),
    Pair(
        "torch",
        Same,
        "RuntimeError: mat1 and mat2 shapes cannot be multiplied (32x128 and 64x10)",
        "RuntimeError: mat1 and mat2 shapes cannot be multiplied (1x768 and 512x2)",
    ),
    Pair(
        "torch",
        Same,
        "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB (GPU 0; 23.69 GiB total capacity; 20.11 GiB already allocated)",
        "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 512.00 MiB (GPU 1; 15.78 GiB total capacity; 14.90 GiB already allocated)",
    ),
    Pair(
        "http",
        Different,
        "urllib.error.HTTPError: HTTP Error 404: Not Found",
        "urllib.error.HTTPError: HTTP Error 403: Forbidden",
    ),
    Pair(
        "http",
        Different,
        "Error: Request failed: 500",
        "Error: Request failed: 429",
    ),
    Pair(
        "http",
        Different,
        "Error: fetch failed with HTTP 401",
        "Error: fetch failed with HTTP 404",
    ),
    Pair(
        "fetch",
        Different,
        "TypeError: fetch failed\n    at node:internal/deps/undici/undici:12345:11 {\n  [cause]: Error: getaddrinfo ENOTFOUND api.x.io",
        "TypeError: fetch failed\n    at node:internal/deps/undici/undici:12345:11 {\n  [cause]: Error: connect ECONNREFUSED 127.0.0.1:80",
    ),
    Pair(
        "node",
        Same,
        "Error: getaddrinfo ENOTFOUND db\n    at GetAddrInfoReqWrap.onlookup [as oncomplete] (node:dns:107:26)",
        "Error: getaddrinfo ENOTFOUND api.staging.x.io\n    at GetAddrInfoReqWrap.onlookup",
    ),
    Pair(
        "node",
        Different,
        "TypeError: Cannot read properties of undefined (reading 'a')",
        "TypeError: Cannot read properties of null (reading 'a')",
    ),
    Pair(
        "node",
        Same,
        "FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory\n 1: 0xb7a940 node::Abort() [node]",
        "<--- Last few GCs --->\n\n[4242:0x5f1a]    31213 ms: Mark-sweep 2045.1 (2083.0) -> 2044.9 (2083.5) MB\n\nFATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory\n 1: 0xc8e4a0 node::Abort() [node]",
    ),
    Pair(
        "tsc",
        Same,
        "src/a.ts:3:7 - error TS2339: Property 'foo' does not exist on type 'Bar'.",
        "src/deep/b.tsx(30,11): error TS2339: Property 'items' does not exist on type '{ a: string; }'.",
    ),
    Pair(
        "eslint",
        Same,
        "/a/b.ts\n  3:10  error  Unexpected any. Specify a different type  @typescript-eslint/no-explicit-any\n\n✖ 1 problem (1 error, 0 warnings)",
        "/srv/c/d.ts\n  144:22  error  Unexpected any. Specify a different type  @typescript-eslint/no-explicit-any\n\n✖ 1 problem (1 error, 0 warnings)",
    ),
    Pair(
        "next",
        Same,
        "Failed to compile.\n\n./src/app/page.tsx:3:1\nModule not found: Can't resolve '@/lib/x'\n  1 | import a",
        "Failed to compile.\n\n./pages/index.js:12:1\nModule not found: Can't resolve 'swr'\n  10 | import b",
    ),
    Pair(
        "next",
        Same,
        "Type error: Property 'x' is missing in type '{}' but required in type 'Props'.",
        "./src/app/a.tsx:10:5\nType error: Property 'title' is missing in type '{ a: number; }' but required in type 'CardProps'.",
    ),
    Pair(
        "go",
        Same,
        "./a.go:3:9: not enough arguments in call to foo\n\thave (int)\n\twant (int, string)",
        "pkg/b/c.go:90:14: not enough arguments in call to store.Save\n\thave ()\n\twant (context.Context)",
    ),
    Pair(
        "go",
        Same,
        "a.go:4:2: cannot find package \"foo/bar\" in any of:\n\t/usr/lib/go/src/foo/bar (from $GOROOT)",
        "x/y.go:9:2: cannot find package \"github.com/a/b\" in any of:\n\t/usr/local/go/src/github.com/a/b (from $GOROOT)",
    ),
    Pair(
        "go",
        Same,
        "2026/01/05 10:00:00 listen tcp :8080: bind: address already in use\nexit status 1",
        "2026/02/11 23:59:59 listen tcp 127.0.0.1:9000: bind: address already in use\nexit status 1",
    ),
    Pair(
        "javac",
        Same,
        "A.java:5: error: incompatible types: String cannot be converted to int\n    int a = \"x\";",
        "src/B.java:50: error: incompatible types: List<String> cannot be converted to Set<String>",
    ),
    Pair(
        "javac",
        Same,
        "A.java:9: error: method f in class Main cannot be applied to given types;\n    f(1);\n    ^\n  required: no arguments",
        "src/Cart.java:31: error: method add in class Cart cannot be applied to given types;\n        add();\n        ^\n  required: int",
    ),
    Pair(
        "javac",
        Different,
        "A.java:1: error: package org.junit does not exist",
        "A.java:1: error: class Foo is public, should be declared in a file named Foo.java",
    ),
    Pair(
        "gradle",
        Same,
        "FAILURE: Build failed with an exception.\n\n* What went wrong:\nTask 'tst' not found in root project 'app'.",
        "FAILURE: Build failed with an exception.\n\n* What went wrong:\nTask 'deploy' not found in root project 'shop'. Some candidates are: 'deps'.",
    ),
    Pair(
        "gradle",
        Different,
        "FAILURE: Build failed with an exception.\n\n* What went wrong:\nTask 'tst' not found in root project 'app'.",
        "FAILURE: Build failed with an exception.\n\n* What went wrong:\nCould not resolve all files for configuration ':compileClasspath'.",
    ),
    Pair(
        "ocaml",
        Same,
        "File \"a.ml\", line 3, characters 8-11:\n3 | let x = foo 1\n            ^^^\nError: Unbound value foo",
        "File \"lib/b.ml\", line 40, characters 2-9:\n40 |   process x\n       ^^^^^^^\nError: Unbound value process",
    ),
    Pair(
        "ghc",
        Same,
        "A.hs:3:9: error:\n    • Couldn't match expected type ‘Int’ with actual type ‘[Char]’\n    • In the expression: \"a\"",
        "src/B.hs:44:17: error:\n    • Couldn't match expected type ‘Text’ with actual type ‘Maybe Text’\n    • In the first argument of ‘f’",
    ),
    Pair(
        "git",
        Same,
        "fatal: couldn't find remote ref foo",
        "fatal: couldn't find remote ref refs/heads/feature/x",
    ),
    Pair(
        "git",
        Same,
        "merge: topic - not something we can merge",
        "merge: origin/feature/login - not something we can merge",
    ),
    Pair(
        "git",
        Same,
        "fatal: a branch named 'x' already exists",
        "fatal: a branch named 'feature/y' already exists",
    ),
    Pair(
        "gh",
        Same,
        "pull request create failed: GraphQL: No commits between main and topic (createPullRequest)",
        "pull request create failed: GraphQL: No commits between develop and fix/a-b (createPullRequest)",
    ),
    Pair(
        "docker",
        Same,
        "Error response from daemon: manifest for foo:9.9 not found: manifest unknown: manifest unknown",
        "Error response from daemon: manifest for acme/api:latest not found: manifest unknown: manifest unknown",
    ),
    Pair(
        "docker compose",
        Same,
        "no such service: wrker",
        "no such service: cache",
    ),
    Pair(
        "kubectl",
        Same,
        "error: deployment \"web\" exceeded its progress deadline",
        "error: deployment \"api-v2\" exceeded its progress deadline",
    ),
    Pair(
        "mysql",
        Same,
        "ERROR 1054 (42S22): Unknown column 'nme' in 'field list'",
        "ERROR 1054 (42S22) at line 12: Unknown column 'o.total' in 'where clause'",
    ),
    Pair(
        "sqlite",
        Same,
        "sqlite3.OperationalError: table users has no column named emial",
        "sqlite3.OperationalError: table order_items has no column named qty",
    ),
    Pair(
        "sqlite",
        Same,
        "Parse error: table users already exists",
        "Parse error: table order_items already exists",
    ),
    Pair(
        "ssh",
        Same,
        "ssh: Could not resolve hostname foo: Name or service not known",
        "ssh: Could not resolve hostname build.internal.x: Name or service not known",
    ),
    Pair(
        "ssh",
        Same,
        "ssh: connect to host web port 22: Connection refused",
        "ssh: connect to host 10.0.0.9 port 2222: Connection refused",
    ),
    Pair(
        "ssh",
        Different,
        "ssh: connect to host web port 22: Connection refused",
        "ssh: connect to host web port 22: No route to host",
    ),
    Pair(
        "chmod",
        Same,
        "chmod: changing permissions of '/a': Operation not permitted",
        "chmod: changing permissions of '/srv/x/run.sh': Operation not permitted",
    ),
    Pair(
        "kill",
        Same,
        "bash: kill: (12345) - No such process",
        "/bin/bash: line 1: kill: (77) - No such process",
    ),
    Pair(
        "python env",
        Same,
        "KeyError: 'DATABASE_URL'",
        "Traceback (most recent call last):\n  File \"s.py\", line 4, in <module>\n    os.environ['API_KEY']\n  File \"<frozen os>\", line 685, in __getitem__\nKeyError: 'API_KEY'",
    ),
    Pair(
        "log",
        Different,
        "2026-01-05 10:22:31 ERROR db: deadlock detected",
        "2026-01-05 10:22:31 ERROR db: too many connections",
    ),
    Pair(
        "Write",
        Same,
        "EISDIR: illegal operation on a directory, open '/a'",
        "EISDIR: illegal operation on a directory, open '/srv/data'",
    ),
    // What logs, wrappers and progress put around an error, and what names it within one
    Pair(
        "python",
        Different,
        "TypeError: 'NoneType' object is not subscriptable",
        "TypeError: 'int' object is not subscriptable",
    ),
    Pair(
        "python",
        Same,
        "AttributeError: 'Order' object has no attribute 'total'",
        "AttributeError: 'Customer' object has no attribute 'mail'",
    ),
    Pair(
        "python",
        Same,
        "TypeError: can only concatenate str (not \"int\") to str",
        "TypeError: can only concatenate str (not \"int\") to str",
    ),
    Pair(
        "python",
        Different,
        "TypeError: can only concatenate str (not \"int\") to str",
        "TypeError: can only concatenate list (not \"str\") to list",
    ),
    Pair(
        "python",
        Same,
        "AttributeError: 'list' object has no attribute 'split'",
        "AttributeError: 'list' object has no attribute 'items'",
    ),
    Pair(
        "python",
        Different,
        "AttributeError: 'list' object has no attribute 'items'",
        "AttributeError: 'str' object has no attribute 'items'",
    ),
    Pair(
        "python",
        Same,
        "TypeError: Object of type datetime is not JSON serializable",
        "TypeError: Object of type datetime is not JSON serializable\n",
    ),
    Pair(
        "ruby",
        Different,
        "undefined method `name' for nil:NilClass (NoMethodError)",
        "undefined method `name' for an instance of String (NoMethodError)",
    ),
    Pair(
        "tsc",
        Same,
        "src/a.ts(3,5): error TS2322: Type 'string' is not assignable to type 'number'.",
        "lib/b.ts(30,15): error TS2322: Type 'string' is not assignable to type 'number'.",
    ),
    Pair(
        "node",
        Different,
        "TypeError: Cannot read properties of undefined (reading 'id')",
        "TypeError: Cannot read properties of null (reading 'id')",
    ),
    Pair(
        "requests",
        Same,
        "requests.exceptions.ConnectionError: HTTPSConnectionPool(host='a.example', port=443): Max retries exceeded with url: /v1/x (Caused by NewConnectionError('<urllib3.connection.HTTPSConnection object at 0x7f1c2a3b4d50>: Failed to establish a new connection: [Errno 111] Connection refused'))",
        "requests.exceptions.ConnectionError: HTTPConnectionPool(host='10.0.0.3', port=9200): Max retries exceeded with url: /_search (Caused by NewConnectionError('<urllib3.connection.HTTPConnection object at 0x10c2a3b50>: Failed to establish a new connection: [Errno 111] Connection refused'))",
    ),
    Pair(
        "requests",
        Different,
        "requests.exceptions.SSLError: HTTPSConnectionPool(host='a', port=443): Max retries exceeded with url: / (Caused by SSLError(SSLCertVerificationError(1, '[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed: self-signed certificate (_ssl.c:1006)')))",
        "requests.exceptions.SSLError: HTTPSConnectionPool(host='a', port=443): Max retries exceeded with url: / (Caused by SSLError(SSLError(1, '[SSL: WRONG_VERSION_NUMBER] wrong version number (_ssl.c:1006)')))",
    ),
    Pair(
        "requests",
        Different,
        "requests.exceptions.ConnectTimeout: HTTPConnectionPool(host='a', port=80): Max retries exceeded with url: / (Caused by ConnectTimeoutError(<urllib3.connection.HTTPConnection object at 0x7f>, 'Connection to a timed out. (connect timeout=5)'))",
        "requests.exceptions.ConnectionError: HTTPConnectionPool(host='a', port=80): Max retries exceeded with url: / (Caused by NewConnectionError('<urllib3.connection.HTTPConnection object at 0x7f>: Failed to establish a new connection: [Errno 113] No route to host'))",
    ),
    Pair(
        "pip",
        Different,
        "WARNING: Retrying (Retry(total=4)) after connection broken by 'NewConnectionError('<pip._vendor.urllib3.connection.HTTPSConnection object at 0x7f>: Failed to establish a new connection: [Errno -3] Temporary failure in name resolution')': /simple/x/\nERROR: Could not find a version that satisfies the requirement x (from versions: none)",
        "ERROR: Could not install packages due to an OSError: [Errno 13] Permission denied: '/usr/lib/python3'",
    ),
    Pair(
        "sqlalchemy",
        Different,
        "sqlalchemy.exc.OperationalError: (psycopg2.OperationalError) connection to server at \"localhost\" (127.0.0.1), port 5432 failed: Connection refused",
        "sqlalchemy.exc.OperationalError: (psycopg2.OperationalError) connection to server at \"localhost\" (127.0.0.1), port 5432 failed: FATAL:  password authentication failed for user \"ann\"",
    ),
    Pair(
        "npm",
        Different,
        "npm error code ELIFECYCLE\nnpm error errno 1\nnpm error app@1.0.0 build: `tsc`\nnpm error Exit status 1",
        "npm error code ELIFECYCLE\nnpm error errno 137\nnpm error app@1.0.0 test: `jest`\nnpm error Exit status 137",
    ),
    Pair(
        "npm",
        Same,
        "npm error code EUSAGE\nnpm error\nnpm error `npm ci` can only install packages when your package.json and package-lock.json or npm-shrinkwrap.json are in sync. Please update your lock file with `npm install` before continuing.\nnpm error\nnpm error Missing: zod@3.23.8 from lock file",
        "npm ERR! code EUSAGE\nnpm ERR! \nnpm ERR! `npm ci` can only install packages when your package.json and package-lock.json or npm-shrinkwrap.json are in sync. Please update your lock file with `npm install` before continuing.\nnpm ERR! \nnpm ERR! Invalid: lock file's react@18.0.0 does not satisfy react@18.2.0\n",
    ),
    Pair(
        "npm",
        Different,
        "npm error code EUNKNOWN\nnpm error syscall spawn\nnpm error spawn UNKNOWN",
        "npm error code EUNKNOWN\nnpm error syscall read\nnpm error unknown error, read",
    ),
    Pair(
        "npm",
        Same,
        "npm error code ENOENT\nnpm error syscall open\nnpm error path /home/a/package.json\nnpm error errno -2\nnpm error enoent Could not read package.json: Error: ENOENT: no such file or directory, open '/home/a/package.json'",
        "npm ERR! code ENOENT\nnpm ERR! syscall open\nnpm ERR! path /srv/b/package.json\nnpm ERR! errno -2\nnpm ERR! enoent Could not read package.json: Error: ENOENT: no such file or directory, open '/srv/b/package.json'",
    ),
    Pair(
        "npm",
        Same,
        "npm error code E404\nnpm error 404 Not Found - GET https://registry.npmjs.org/foo - Not found",
        "npm ERR! code E404\nnpm ERR! 404 Not Found - GET https://registry.npmjs.org/bar-baz - Not found\nnpm ERR! 404\nnpm ERR! 404  'bar-baz@*' is not in this registry.",
    ),
    Pair(
        "npm",
        Different,
        "npm error code E401\nnpm error Incorrect or missing password.",
        "npm error code E404\nnpm error 404 Not Found - GET https://registry.npmjs.org/foo - Not found",
    ),
    Pair(
        "npm",
        Different,
        "npm error code 1\nnpm error path /a/node_modules/sharp\nnpm error command failed\nnpm error command sh -c node install/check\nnpm error sharp: Installation error: Request timed out",
        "npm error code 127\nnpm error path /a/node_modules/x\nnpm error command failed\nnpm error command sh -c husky\nnpm error sh: 1: husky: not found",
    ),
    Pair(
        "docker",
        Same,
        "error: failed to solve: process \"/bin/sh -c npm ci\" did not complete successfully: exit code: 1",
        "ERROR: failed to solve: process \"/bin/sh -c make\" did not complete successfully: exit code: 1",
    ),
    Pair(
        "Edit",
        Same,
        "Error: String to replace not found in file.\nString: foo",
        "String to replace not found in file.\nString: bar baz",
    ),
    Pair(
        "git",
        Same,
        "fatal: not a git repository (or any of the parent directories): .git",
        "error: not a git repository (or any parent up to mount point /home)\nStopping at filesystem boundary (GIT_DISCOVERY_ACROSS_FILESYSTEM not set).",
    ),
    Pair(
        "git",
        Same,
        "git: fatal: unable to access 'https://a/b.git/': Could not resolve host: alpha",
        "fatal: unable to access 'https://github.com/x/y.git/': Could not resolve host: github.com",
    ),
    Pair(
        "git",
        Different,
        "fatal: unable to access 'https://a/b.git/': Could not resolve host: alpha",
        "fatal: unable to access 'https://a/b.git/': The requested URL returned error: 403",
    ),
    Pair(
        "psql",
        Same,
        "psql: error: connection to server on socket \"/var/run/postgresql/.s.PGSQL.5432\" failed: No such file or directory\n\tIs the server running locally and accepting connections on that socket?",
        "error: connection to server on socket \"/tmp/.s.PGSQL.5433\" failed: No such file or directory\n\tIs the server running locally and accepting connections on that socket?",
    ),
    Pair(
        "helm",
        Same,
        "Error: INSTALLATION FAILED: cannot re-use a name that is still in use",
        "helm: Error: INSTALLATION FAILED: cannot re-use a name that is still in use",
    ),
    Pair(
        "terraform",
        Same,
        "Error: No configuration files",
        "│ Error: No configuration files\n│ \n│ Apply requires configuration to be present.",
    ),
    Pair(
        "make",
        Same,
        "GNUmakefile:3: *** missing separator.  Stop.",
        "build/rules.mk:18: *** missing separator.  Stop.",
    ),
    Pair(
        "make",
        Same,
        "Makefile:2: *** commands commence before first target.  Stop.",
        "Makefile.am:12: *** commands commence before first target.  Stop.",
    ),
    Pair(
        "klog",
        Same,
        "E0312 10:11:12.123456    1234 reflector.go:138] failed to list *v1.Pod: pods is forbidden: User \"system:serviceaccount:a:b\" cannot list resource \"pods\" in API group \"\" at the cluster scope",
        "E1101 09:01:02.000001       1 reflector.go:150] failed to list *v1.Pod: pods is forbidden: User \"system:serviceaccount:x:y\" cannot list resource \"pods\" in API group \"\" at the cluster scope",
    ),
    Pair(
        "klog",
        Same,
        "W0312 10:11:12.123456    1234 loader.go:221] Config not found: /home/a/.kube/config\nE0312 10:11:12.123 1 memcache.go:265] couldn't get current server API group list: the server has asked for the client to provide credentials",
        "E0901 00:11:12.123456  884 memcache.go:287] couldn't get current server API group list: the server has asked for the client to provide credentials",
    ),
    Pair(
        "nginx",
        Same,
        "2026/01/05 10:22:31 [emerg] 1#1: host not found in upstream \"api:3000\" in /etc/nginx/conf.d/default.conf:5",
        "nginx: [emerg] host not found in upstream \"backend\" in /etc/nginx/nginx.conf:41",
    ),
    Pair(
        "nginx",
        Different,
        "2026/01/05 10:22:31 [emerg] 1#1: unknown directive \"serverr\" in /etc/nginx/nginx.conf:5",
        "2026/01/05 10:22:31 [emerg] 1#1: unexpected \"}\" in /etc/nginx/nginx.conf:5",
    ),
    Pair(
        "syslog",
        Same,
        "Jan  5 10:22:31 web1 sshd[811]: error: Could not load host key: /etc/ssh/ssh_host_rsa_key",
        "Mar 15 01:02:03 db-2 sshd[91]: error: Could not load host key: /etc/ssh/ssh_host_ed25519_key",
    ),
    Pair(
        "syslog",
        Same,
        "Nov 22 08:00:00 host systemd[1]: nginx.service: Failed with result 'exit-code'.",
        "Dec  1 18:10:00 other systemd[1]: app.service: Failed with result 'exit-code'.",
    ),
    Pair(
        "log",
        Same,
        "2026-01-05 10:22:31,123 ERROR app.db: could not connect to host db1",
        "[2026-02-07T01:02:03Z] ERROR app.db: could not connect to host db2",
    ),
    Pair(
        "log",
        Same,
        "2026-01-05T10:22:31.004Z ERROR my_app::server: failed to bind: address already in use",
        "2026-03-01T00:00:01.100Z ERROR my_app::server: failed to bind: address already in use",
    ),
    Pair(
        "log",
        Same,
        "time=\"2026-01-05T10:22:31Z\" level=fatal msg=\"failed to load config: open /a.toml: no such file or directory\"",
        "time=\"2026-06-07T10:22:31Z\" level=fatal msg=\"failed to load config: open /b.toml: no such file or directory\"",
    ),
    Pair(
        "curl",
        Same,
        "curl: (7) Failed to connect to ::1 port 8080 after 0 ms: Connection refused",
        "curl: (7) Failed to connect to 127.0.0.1 port 3000 after 2 ms: Connection refused",
    ),
    Pair(
        "node",
        Same,
        "Error: connect ECONNREFUSED ::1:5432\n    at TCPConnectWrap.afterConnect",
        "Error: connect ECONNREFUSED 127.0.0.1:6379\n    at TCPConnectWrap.afterConnect",
    ),
    Pair(
        "go",
        Same,
        "dial tcp [::1]:8080: connect: connection refused",
        "dial tcp 10.0.0.4:8080: connect: connection refused",
    ),
    Pair(
        "go",
        Same,
        "listen tcp [2001:db8::1]:80: bind: permission denied",
        "listen tcp 0.0.0.0:80: bind: permission denied",
    ),
    Pair(
        "go",
        Same,
        "listen tcp :80: bind: permission denied",
        "listen tcp 0.0.0.0:443: bind: permission denied",
    ),
    Pair(
        "ssh",
        Same,
        "ssh: connect to host fe80::1%eth0 port 22: No route to host",
        "ssh: connect to host 10.1.1.1 port 22: No route to host",
    ),
    Pair(
        "go",
        Different,
        "dial tcp [::1]:8080: connect: connection refused",
        "dial tcp [::1]:8080: i/o timeout",
    ),
    Pair(
        "apt",
        Same,
        "E: Could not get lock /var/lib/dpkg/lock-frontend. It is held by process 4411 (unattended-upgr)\nN: Be aware that removing the lock file is not a solution and may break your system.\nE: Unable to acquire the dpkg frontend lock",
        "E: Could not get lock /var/lib/apt/lists/lock. It is held by process 12 (apt)\nE: Unable to lock directory /var/lib/apt/lists/",
    ),
    Pair(
        "lsof",
        Same,
        "Error: port 3000 is in use by process 811 (node)",
        "Error: port 8080 is in use by process 9 (python3)",
    ),
    Pair(
        "kill",
        Same,
        "bash: kill: (4411) - No such process",
        "bash: kill: (9) - No such process",
    ),
    Pair(
        "oom",
        Same,
        "Out of memory: Killed process 811 (node) total-vm:12kB",
        "Out of memory: Killed process 9122 (rustc) total-vm:99kB",
    ),
    Pair(
        "poetry",
        Same,
        "Installing dependencies from lock file\n\npyproject.toml changed significantly since poetry.lock was last generated. Run `poetry lock` to fix the lock file.",
        "Creating virtualenv app-x1y2z3-py3.12 in /home/a/.cache/pypoetry/virtualenvs\nInstalling dependencies from lock file\n\npyproject.toml changed significantly since poetry.lock was last generated. Run `poetry lock [--no-update]` to fix the lock file.",
    ),
    Pair(
        "poetry",
        Different,
        "Creating virtualenv a in b\nInstalling dependencies from lock file\n\npyproject.toml changed significantly since poetry.lock was last generated. Run `poetry lock` to fix the lock file.",
        "Creating virtualenv a in b\nThe currently activated Python version 3.8.10 is not supported by the project (^3.11).\nTrying to find and use a compatible version.\nPoetry was unable to find a compatible version.",
    ),
    Pair(
        "uv",
        Same,
        "Using CPython 3.12.3\nCreating virtual environment at: .venv\n  × No solution found when resolving dependencies:\n  ╰─▶ Because foo was not found in the package registry",
        "Resolved 3 packages in 10ms\n  × No solution found when resolving dependencies:\n  ╰─▶ Because bar was not found in the package registry",
    ),
    Pair(
        "bundler",
        Same,
        "Fetching gem metadata from https://rubygems.org/.........\nResolving dependencies...\nCould not find gem 'railz' in rubygems repository https://rubygems.org/ or installed locally.",
        "Could not find gem 'foo' in rubygems repository https://rubygems.org/ or installed locally.",
    ),
    Pair(
        "docker",
        Same,
        "Building app\nSending build context to Docker daemon  2.048kB\nStep 1/3 : FROM node:20\nThe command '/bin/sh -c npm ci' returned a non-zero code: 1",
        "Step 2/9 : RUN make\nThe command '/bin/sh -c make' returned a non-zero code: 1",
    ),
    Pair(
        "terraform",
        Same,
        "Initializing the backend...\nInitializing provider plugins...\n- Finding latest version of hashicorp/foo...\n╷\n│ Error: Failed to query available provider packages\n│ \n│ Could not retrieve the list of available versions for provider hashicorp/foo",
        "╷\n│ Error: Failed to query available provider packages\n│ \n│ Could not retrieve the list of available versions for provider hashicorp/bar",
    ),
    Pair(
        "flyway",
        Same,
        "Downloading model weights\nConnecting to registry\nThe lock expired",
        "Connecting to registry\nThe lock expired",
    ),
    Pair(
        "aws",
        Same,
        "upload failed: ./a.txt to s3://bucket/a.txt Unable to locate credentials",
        "Unable to locate credentials. You can configure credentials by running \"aws configure\".",
    ),
    Pair(
        "aws",
        Same,
        "fatal error: Unable to locate credentials",
        "Unable to locate credentials. You can configure credentials by running \"aws login\".",
    ),
    Pair(
        "aws",
        Different,
        "upload failed: ./a.txt to s3://bucket/a.txt An error occurred (AccessDenied) when calling the PutObject operation: Access Denied",
        "upload failed: ./a.txt to s3://bucket/a.txt Unable to locate credentials",
    ),
    Pair(
        "aws",
        Same,
        "upload failed: ./a.txt to s3://bucket/a.txt An error occurred (AccessDenied) when calling the PutObject operation: Access Denied",
        "An error occurred (AccessDenied) when calling the PutObject operation: Access Denied",
    ),
    Pair(
        "aws",
        Same,
        "download failed: s3://b/x to ./x An error occurred (403) when calling the HeadObject operation: Forbidden",
        "fatal error: An error occurred (403) when calling the HeadObject operation: Forbidden",
    ),
    Pair(
        "gcloud",
        Same,
        "ERROR: (gcloud.run.deploy) PERMISSION_DENIED: The caller does not have permission",
        "ERROR: (gcloud.functions.deploy) PERMISSION_DENIED: The caller does not have permission",
    ),
    Pair(
        "sqlite",
        Same,
        "Error: in prepare, no such table: users",
        "Error: near line 3: in prepare, no such table: orders",
    ),
    Pair(
        "sqlite",
        Same,
        "Error: database is locked",
        "Runtime error near line 1: database is locked (5)",
    ),
    Pair(
        "sqlite",
        Same,
        "Parse error: no such table: users",
        "Parse error near line 4: no such table: orders",
    ),
    Pair(
        "sqlite",
        Different,
        "Error: in prepare, database is locked (5)",
        "Error: in prepare, database disk image is malformed (11)",
    ),
    Pair(
        "sqlite",
        Same,
        "Error: stepping, UNIQUE constraint failed: users.email (19)",
        "Error: stepping, UNIQUE constraint failed: orders.id (19)",
    ),
    Pair(
        "sqlite",
        Different,
        "Error: stepping, UNIQUE constraint failed: users.email (19)",
        "Error: stepping, NOT NULL constraint failed: users.email (19)",
    ),
    Pair(
        "kubectl",
        Different,
        "NAME      READY   STATUS             RESTARTS   AGE\nweb-1     0/1     Pending            0          4m",
        "NAME      READY   STATUS             RESTARTS   AGE\nweb-1     0/1     OOMKilled          3          4m",
    ),
    Pair(
        "kubectl",
        Same,
        "NAME      READY   STATUS             RESTARTS   AGE\nweb-7d9f8c6b5-x2x9k     0/1     CrashLoopBackOff            2          4m",
        "NAME      READY   STATUS             RESTARTS   AGE\napi-5c6b5-k2k9x     0/1     CrashLoopBackOff   11 (20s ago)          40m",
    ),
    Pair(
        "kubectl",
        Different,
        "NAME      READY   STATUS             RESTARTS   AGE\nweb-7d9f8c6b5-x2x9k     0/1     CrashLoopBackOff            2          4m",
        "NAME      READY   STATUS             RESTARTS   AGE\nweb-7d9f8c6b5-x2x9k     0/1     ErrImagePull            2          4m",
    ),
    Pair(
        "curl",
        Same,
        "curl: (22) The requested URL returned error: 404",
        "curl: (22) The requested URL returned error: 404 Not Found",
    ),
    Pair(
        "ls",
        Same,
        "ls: cannot access 'x': No such file or directory",
        "ls: cannot access '/y/z': No such file or directory",
    ),
    Pair(
        "docker",
        Same,
        "docker: Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?.\nSee 'docker run --help'.",
        "ERROR: Cannot connect to the Docker daemon at unix:///run/user/1000/docker.sock. Is the docker daemon running?",
    ),
    Pair(
        "python",
        Different,
        "ValueError: could not convert string to float: 'a'",
        "ValueError: invalid literal for int() with base 10: 'a'",
    ),
    Pair(
        "bash",
        Different,
        "cp: cannot stat 'a': No such file or directory",
        "cp: cannot create regular file 'a': Permission denied",
    ),
    Pair(
        "error",
        Different,
        "error: failed to push some refs to 'a'",
        "error: failed to fetch some refs from 'a'",
    ),
    Pair(
        "go",
        Different,
        "panic: runtime error: index out of range [5] with length 3",
        "panic: runtime error: invalid memory address or nil pointer dereference",
    ),
    Pair(
        "postgres",
        Different,
        "ERROR:  relation \"users\" does not exist",
        "ERROR:  column \"users\" does not exist",
    ),
    Pair(
        "postgres",
        Same,
        "ERROR:  relation \"users\" does not exist\nLINE 1: select * from users",
        "psql:seed.sql:14: ERROR:  relation \"orders\" does not exist\nLINE 1: insert into orders",
    ),
    Pair(
        "postgres",
        Same,
        "2026-01-05 10:22:31.123 UTC [811] ERROR:  relation \"users\" does not exist at character 15",
        "ERROR:  relation \"orders\" does not exist at character 8",
    ),
    Pair(
        "postgres",
        Same,
        "psql: error: FATAL:  role \"ann\" does not exist",
        "FATAL:  role \"bob\" does not exist",
    ),
    Pair(
        "tar",
        Same,
        "tar: a.tgz: Cannot open: No such file or directory\ntar: Error is not recoverable: exiting now",
        "tar: /x/y.tar: Cannot open: No such file or directory\ntar: Error is not recoverable: exiting now",
    ),
    Pair(
        "java",
        Different,
        "Exception in thread \"main\" java.lang.ClassCastException: class java.lang.String cannot be cast to class java.lang.Integer",
        "Exception in thread \"main\" java.lang.NullPointerException: Cannot invoke \"String.length()\" because \"<local1>\" is null",
    ),
    Pair(
        "systemctl",
        Same,
        "Failed to start nginx.service: Unit nginx.service not found.",
        "Failed to start redis.service: Unit redis.service not found.",
    ),
    Pair(
        "systemctl",
        Different,
        "Failed to start nginx.service: Unit nginx.service not found.",
        "Failed to start nginx.service: Interactive authentication required.",
    ),
    Pair(
        "ssh",
        Same,
        "git@github.com: Permission denied (publickey).\nfatal: Could not read from remote repository.",
        "git@gitlab.example.org: Permission denied (publickey).\nfatal: Could not read from remote repository.",
    ),
    Pair(
        "ssh",
        Different,
        "ann@host: Permission denied (publickey).",
        "ann@host: Permission denied (publickey,password).",
    ),
    Pair(
        "python",
        Different,
        "TypeError: 'str' object cannot be interpreted as an integer",
        "TypeError: 'float' object cannot be interpreted as an integer",
    ),
    Pair(
        "python",
        Same,
        "TypeError: argument of type 'NoneType' is not iterable",
        "TypeError: argument of type 'NoneType' is not iterable\n",
    ),
    Pair(
        "python",
        Different,
        "TypeError: argument of type 'NoneType' is not iterable",
        "TypeError: argument of type 'int' is not iterable",
    ),
    Pair(
        "cargo",
        Same,
        "error: the package 'app' does not contain this feature: foo",
        "error: the package 'lib' does not contain this feature: bar",
    ),
    Pair(
        "cargo",
        Same,
        "error: error: could not find `Cargo.toml` in `/tmp/a` or any parent directory",
        "error: could not find `Cargo.toml` in `/home/b/c` or any parent directory",
    ),
    Pair(
        "make",
        Same,
        "make[1]: *** [Makefile:3: all] Error 2",
        "make[3]: *** [src/Makefile:30: lib] Error 2",
    ),
    Pair(
        "cmake",
        Same,
        "ninja: error: loading 'build.ninja': No such file or directory",
        "ninja: error: loading '/x/build.ninja': No such file or directory",
    ),
    Pair(
        "go",
        Different,
        "./main.go:4:2: undefined: foo",
        "./main.go:4:2: foo redeclared in this block",
    ),
    Pair(
        "redis",
        Same,
        "(error) MISCONF Redis is configured to save RDB snapshots",
        "(error) MISCONF Redis is configured to save RDB snapshots, but it is currently not able to persist on disk",
    ),
    Pair(
        "redis",
        Same,
        "Could not connect to Redis at 127.0.0.1:6379: Connection refused",
        "Could not connect to Redis at [::1]:6380: Connection refused",
    ),
    Pair(
        "git",
        Same,
        "error: pathspec 'foo' did not match any file(s) known to git",
        "error: pathspec 'feature/x' did not match any file(s) known to git",
    ),
    Pair(
        "git",
        Different,
        "error: Your local changes to the following files would be overwritten by merge:\n\ta.txt",
        "error: The following untracked working tree files would be overwritten by merge:\n\ta.txt",
    ),
    Pair(
        "curl",
        Different,
        "curl: (6) Could not resolve host: a.example",
        "curl: (28) Connection timed out after 5000 milliseconds",
    ),
    Pair(
        "wget",
        Same,
        "wget: unable to resolve host address 'a.example'",
        "wget: unable to resolve host address 'b.example'",
    ),
    Pair(
        "rsync",
        Different,
        "rsync: [sender] link_stat \"/a\" failed: No such file or directory (2)",
        "rsync: connection unexpectedly closed (0 bytes received so far) [sender]",
    ),
    Pair(
        "bash",
        Different,
        "cp: cannot stat 'a': No such file or directory",
        "cp: -r not specified; omitting directory 'a'",
    ),
    Pair(
        "sed",
        Different,
        "sed: -e expression #1, char 3: unterminated `s' command",
        "sed: can't read a.txt: No such file or directory",
    ),
    Pair(
        "helm",
        Different,
        "Error: INSTALLATION FAILED: cannot re-use a name that is still in use",
        "Error: UPGRADE FAILED: another operation (install/upgrade/rollback) is in progress",
    ),
    Pair(
        "docker",
        Different,
        "docker: Error response from daemon: Conflict. The container name \"/web\" is already in use by container \"abc123def456\".",
        "docker: Error response from daemon: driver failed programming external connectivity on endpoint web: Bind for 0.0.0.0:80 failed: port is already allocated.",
    ),
    Pair(
        "docker",
        Same,
        "Error response from daemon: pull access denied for foo, repository does not exist or may require 'docker login': denied: requested access to the resource is denied",
        "docker: Error response from daemon: pull access denied for bar/baz, repository does not exist or may require 'docker login': denied: requested access to the resource is denied.",
    ),
    Pair(
        "node",
        Same,
        "node:events:497\n      throw er; // Unhandled 'error' event\n      ^\n\nError: listen EADDRINUSE: address already in use :::3000\n    at Server.setupListenHandle",
        "Error: listen EADDRINUSE: address already in use 127.0.0.1:8080\n    at Server.setupListenHandle",
    ),
    Pair(
        "rust",
        Different,
        "thread 'main' panicked at src/main.rs:3:5:\nattempt to divide by zero",
        "thread 'main' panicked at src/main.rs:3:5:\nattempt to subtract with overflow",
    ),
    Pair(
        "python",
        Different,
        "ImportError: cannot import name 'x' from 'y' (/a/y.py)",
        "ImportError: attempted relative import with no known parent package",
    ),
    Pair(
        "python",
        Same,
        "TypeError: 'NoneType' object is not callable",
        "TypeError: 'NoneType' object is not callable",
    ),
    Pair(
        "python",
        Different,
        "TypeError: 'NoneType' object is not iterable",
        "TypeError: 'int' object is not iterable",
    ),
    Pair(
        "python",
        Different,
        "AttributeError: module 'os' has no attribute 'foo'",
        "AttributeError: 'NoneType' object has no attribute 'foo'",
    ),
    Pair(
        "python",
        Same,
        "AttributeError: module 'os' has no attribute 'foo'",
        "AttributeError: module 'numpy' has no attribute 'float'. Did you mean: 'float16'?",
    ),
    Pair(
        "aiohttp",
        Different,
        "aiohttp.client_exceptions.ClientConnectorError: Cannot connect to host a:80 ssl:default [Connect call failed ('127.0.0.1', 80)]",
        "aiohttp.client_exceptions.ClientConnectorError: Cannot connect to host a:80 ssl:default [Name or service not known]",
    ),
    Pair(
        "httpx",
        Different,
        "httpx.ConnectError: [Errno 111] Connection refused",
        "httpx.ConnectError: [Errno -2] Name or service not known",
    ),
    Pair(
        "go",
        Same,
        "2026/01/05 10:22:31 listen tcp :8080: bind: address already in use",
        "2026/03/01 00:01:02 main.go:14: listen tcp [::]:9090: bind: address already in use",
    ),
    Pair(
        "npm",
        Different,
        "npm error code EUNSUPPORTEDPROTOCOL\nnpm error Unsupported URL Type \"workspace:\": workspace:*",
        "npm error code EBADENGINE\nnpm error engine Unsupported engine",
    ),
    Pair(
        "npm",
        Different,
        "npm error Missing script: \"foo\"",
        "npm error Unknown command: \"foo\"",
    ),
    Pair(
        "yarn",
        Same,
        "yarn install v1.22.19\n[1/4] Resolving packages...\nerror Couldn't find package \"foo\" on the \"npm\" registry.",
        "yarn add v1.22.22\n[1/4] Resolving packages...\nerror Couldn't find package \"bar-baz\" on the \"npm\" registry.",
    ),
    Pair(
        "pip",
        Same,
        "Collecting foo\n  Downloading foo-1.0.tar.gz (10 kB)\nBuilding wheel for foo (setup.py): started\nERROR: Failed building wheel for foo",
        "Building wheels for collected packages: bar\nERROR: Failed building wheel for bar",
    ),
    Pair(
        "terraform",
        Same,
        "module.vpc.aws_vpc.main: Creating...\n╷\n│ Error: creating EC2 VPC: operation error EC2: CreateVpc, https response error StatusCode: 403, RequestID: 1f-2, api error UnauthorizedOperation: You are not authorized to perform this operation.",
        "aws_vpc.x: Creating...\n╷\n│ Error: creating EC2 VPC: operation error EC2: CreateVpc, https response error StatusCode: 403, RequestID: 9a-7, api error UnauthorizedOperation: You are not authorized to perform this operation.",
    ),
    Pair(
        "WebFetch",
        Different,
        "Error: Request failed with status code 404",
        "Error: Request failed with status code 500",
    ),
    Pair("WebFetch", Same, "HTTP/1.1 404 Not Found", "HTTP/2 404"),
    Pair(
        "kubectl",
        Same,
        "The connection to the server localhost:8080 was refused - did you specify the right host or port?",
        "The connection to the server 10.0.0.1:6443 was refused - did you specify the right host or port?",
    ),
    Pair(
        "kubectl",
        Different,
        "Error from server (NotFound): pods \"web\" not found",
        "Error from server (Forbidden): pods \"web\" is forbidden: User \"ann\" cannot get resource \"pods\"",
    ),
    Pair(
        "systemd",
        Same,
        "Job for nginx.service failed because the control process exited with error code.\nSee \"systemctl status nginx.service\" for details.",
        "Job for app.service failed because the control process exited with error code.\nSee \"systemctl status app.service\" for details.",
    ),
    Pair(
        "cat",
        Same,
        "cat: notes.txt: No such file or directory",
        "cat: '/a b/c': No such file or directory",
    ),
    Pair(
        "mkdir",
        Different,
        "mkdir: cannot create directory 'a': File exists",
        "mkdir: cannot create directory 'a': Permission denied",
    ),
    Pair(
        "ping",
        Same,
        "ping: foo: Name or service not known",
        "ping: bar.example: Name or service not known",
    ),
    Pair(
        "ssh",
        Different,
        "ssh: connect to host a port 22: Connection refused",
        "ssh: connect to host a port 22: Connection timed out",
    ),
    Pair(
        "ffmpeg",
        Different,
        "a.mp4: No such file or directory",
        "a.mp4: Invalid data found when processing input",
    ),
    Pair(
        "jq",
        Different,
        "jq: error (at <stdin>:1): Cannot index number with \"a\"",
        "jq: error: syntax error, unexpected INVALID_CHARACTER (Unix shell quoting issues?) at <top-level>, line 1:",
    ),
];

fn signature(text: &str) -> Signature {
    Signature::of("Bash", text)
}

#[test]
fn the_table_of_pairs_is_told_apart() {
    let tools: BTreeSet<_> = PAIRS.iter().map(|pair| pair.0).collect();
    assert!(PAIRS.len() >= 60 && tools.len() >= 10);
    let (mut right, mut joined, mut same) = (0_u32, 0_u32, 0_u32);
    for Pair(tool, are, a, b) in PAIRS {
        let equal = signature(a) == signature(b);
        same += u32::from(*are == Same);
        joined += u32::from(equal);
        right += u32::from(equal && *are == Same);
        if equal != (*are == Same) {
            let text = |error| Normalised::of(error).text;
            println!("{tool}: wrong\n  {}\n  {}", text(a), text(b));
        }
    }
    let precision = f64::from(right) / f64::from(joined);
    let recall = f64::from(right) / f64::from(same);
    println!(
        "{} pairs of {} tools: precision {precision:.3}, recall {recall:.3}",
        PAIRS.len(),
        tools.len()
    );
    assert!(precision >= PRECISION && recall >= RECALL);
}

/// Errors that two rows of the table have in common, by their tools.
const IN_COMMON: [&[&str]; 7] = [
    &["bash", "zsh"],
    &["clang", "zig"],
    &["colours", "rustc"],
    &["composer", "php"],
    &["javac", "maven"],
    &["npm", "sh"],
    &["pandas", "python", "python env"],
];

#[test]
fn errors_of_different_tools_differ() {
    let mut tools_of = BTreeMap::<_, BTreeSet<_>>::new();
    for Pair(tool, _, a, b) in PAIRS {
        for error in [a, b] {
            tools_of.entry(signature(error)).or_default().insert(*tool);
        }
    }
    let shared: BTreeSet<Vec<_>> = tools_of
        .into_values()
        .filter(|tools| tools.len() > 1)
        .map(|tools| tools.into_iter().collect())
        .collect();
    assert_eq!(shared, IN_COMMON.map(<[_]>::to_vec).into());
}

/// Numbers that only tell the place become `<n>`; those that name the error stay.
#[rstest]
#[case::compiler("error[E0382]: borrow of moved value", "e0382")]
#[case::typescript("a.ts(1,2): error TS2345: no", "ts2345")]
#[case::oracle("ORA-00942: table or view does not exist", "ora-00942")]
#[case::sql_state("ERROR: 42P01: relation missing", "42p01")]
#[case::mysql("ERROR 1045 (28000): Access denied", "1045")]
#[case::errno("OSError: [Errno 28] No space left on device", "errno 28")]
#[case::os_error("Permission denied (os error 13)", "os error 13")]
#[case::status("Request failed with status code 404", "404")]
#[case::status_word("Error: 503 Service Unavailable", "503")]
#[case::curl("curl: (6) Could not resolve host", "(6)")]
#[case::signal("process killed by signal 9", "signal 9")]
#[case::exit("Process exited with code 137", "code 137")]
#[case::json_rpc("RPC failed, error code: -32601", "-32601")]
#[case::windows("installation failed with error 0x80070005", "0x80070005")]
fn a_number_that_names_the_error_stays(#[case] error: &str, #[case] kept: &str) {
    let text = Normalised::of(error).text;
    assert!(text.contains(kept), "{text}");
}

#[rstest]
#[case::path("cannot open /home/ann/a b", "cannot open <x> b")]
#[case::windows_path(r"cannot open C:\work\a.txt", "cannot open <x>")]
#[case::temporary("cannot open /tmp/tmp.Ab12/x", "cannot open <x>")]
#[case::quoted("cannot open 'a b'", "cannot open <x>")]
#[case::uuid(
    "no such run: 550e8400-e29b-41d4-a716-446655440000",
    "no such run: <x>"
)]
#[case::hash("bad object 4f1d2c3b9a8e7f60", "bad object <x>")]
#[case::address("invalid read at 0x7ffd1b2c", "invalid read at <x>")]
#[case::time("failed at 2026-01-05T10:22:31.004Z", "failed at <n>")]
#[case::duration("timed out after 30s", "timed out after <n>")]
#[case::port("cannot bind 127.0.0.1:8080", "cannot bind <n>")]
#[case::url("cannot fetch https://a.b/c?d=1", "cannot fetch <x>")]
#[case::line_and_column("src/a.rs:10:5: cannot parse", "cannot parse")]
#[case::apostrophe("can't open it, it isn't there", "can't open it, it isn't there")]
fn what_tells_the_place_becomes_a_placeholder(#[case] error: &str, #[case] expected: &str) {
    assert_eq!(Normalised::of(error).text, expected);
}

#[test]
fn the_names_are_kept_to_tell_examples_apart() {
    let error = "ModuleNotFoundError: No module named 'requests'";
    assert_eq!(Normalised::of(error).names, ["requests"]);
}

#[test]
fn a_signature_is_sixteen_digits_of_the_hash_of_type_and_text() {
    // printf 'Bash:exit code 7' | sha256sum
    let signature = Signature::of("Bash", "Exit code 7");
    assert_eq!(signature.to_string(), "9b345095ecd2c197");
    assert_eq!(Signature::parse(&signature.to_string()), Some(signature));
    assert_ne!(signature, Signature::of("Read", "Exit code 7"));
    assert_eq!(Signature::parse("0123"), None);
    assert_eq!(Signature::parse("+123456789abcdef"), None);
}

/// Spec/4: the first 16 digits of the SHA-256 of the context.
#[test]
fn a_context_hash_is_sixteen_digits() {
    // printf 'abc' | sha256sum
    assert_eq!(context_hash("abc"), "ba7816bf8f01cfea");
}

#[test]
fn an_endless_error_is_cut() {
    let pieces = [
        "'",
        "a:",
        "[1]:",
        "f(",
        "é\u{1b}[",
        "error: 'x' ",
        "(((",
        "<x>, ",
        "’”»",
        "=>=<=",
        "«‘“`",
        "\r",
    ];
    for piece in pieces {
        let text = Normalised::of(&piece.repeat(2_000_000 / piece.len())).text;
        assert!(text.len() <= 400);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever a tool prints, it gets a signature, and white space around it changes nothing.
    #[test]
    fn any_text_has_a_signature(text in "(?s).{0,200}", lines in "[ -~\n]{0,300}") {
        for text in [&text, &lines] {
            prop_assert!(Normalised::of(text).text.len() <= 400);
            let text = text.trim();
            prop_assert_eq!(signature(text), signature(&format!("{text}\n\n")));
        }
    }
}
