// The CSV readers as testees: what each makes of a file in TiCDC's default settings.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const READERS = { "csv-parse": "../csv_parse.js", papaparse: "../papaparse.js" };
const TABLE = {
  schema: "s",
  table: "t",
  columns: [
    { name: "id", type: "int64 unsigned", nullable: false, roles: ["primary", "handle"] },
    { name: "a", type: "text(10)", nullable: true, roles: [] },
    { name: "b", type: "bytes", nullable: true, roles: [] },
    { name: "c", type: "float32", nullable: true, roles: [] },
    { name: "v", type: "int32", nullable: true, roles: ["generated", "virtual"] },
  ],
};

function ask(program, file, options = {}) {
  const messages = [{ path: "data.csv", value: Buffer.from(file, "latin1").toString("base64") }];
  const decode = { cmd: "decode", seq: 1, format: "csv", options, tables: [TABLE], messages };
  const lines = [{ cmd: "start", protocol: 1 }, decode, { cmd: "stop" }].map((each) => `${JSON.stringify(each)}\n`);
  const { status, stdout } = spawnSync(process.execPath, [here(program)], { input: lines.join("") });
  assert.equal(status, 0);
  const [started, answer] = stdout.toString().split("\n").filter(Boolean).map((line) => JSON.parse(line));
  assert.equal(started.formats.csv.encode, false);
  return answer;
}

for (const [name, program] of Object.entries(READERS)) {
  const skip = existsSync(here(`../node_modules/${name}`)) ? false : `${name} is not installed: npm ci`;

  test(`${name} reads values of all kinds`, { skip }, () => {
    const { events } = ask(program, '"I","t","s",18446744073709551615,"q""\r\n,","AP8=",-0\r\n"D","t","s",1,\\N,\\N,\\N\r\n');
    assert.deepEqual(events, [
      {
        ...{ kind: "row", op: "insert", schema: "s", table: "t", key: ["id"], before: null },
        after: { id: "18446744073709551615", a: 'q"\r\n,', b: { bytes: "AP8=" }, c: "-0.0" },
      },
      {
        ...{ kind: "row", op: "delete", schema: "s", table: "t", key: ["id"], after: null },
        before: { id: "1", a: null, b: null, c: null },
      },
    ]);
  });

  test(`${name} reads the fields before the columns`, { skip }, () => {
    const options = { "include-commit-ts": true, "csv.output-old-value": "true", "output-handle-key": true };
    const { events } = ask(program, '"I","t","s",433305438660591626,true,"-1",1,"x","",1e+20\r\n', options);
    assert.deepEqual(events[0].position, { commit_ts: "433305438660591626" });
    assert.deepEqual([events[0].op, events[0].half, events[0].extra], ["update", "after", { handle_key: "-1" }]);
  });

  test(`${name} leaves out a header line`, { skip }, () => {
    const { events } = ask(program, 'o,t,s,id,a,b,c\r\n"I","t","s",1,"x","",1\r\n', { "output-field-header": true });
    assert.equal(events.length, 1);
  });

  for (const [fault, file] of Object.entries({
    "a field too few": '"I","t","s",1,"x",""\r\n',
    "an open quote": '"I","t","s",1,"x","",1,"\r\n',
    "an undefined operation": '"X","t","s",1,"x","",1\r\n',
    "an invalid number": '"I","t","s",one,"x","",1\r\n',
  }))
    test(`${name} refuses ${fault}`, { skip }, () => assert.ok(ask(program, file).rejected));
}

test("what the readers differ in: a quoted null text, ill-formed UTF-8", (context) => {
  const missing = Object.keys(READERS).find((name) => !existsSync(here(`../node_modules/${name}`)));
  if (missing) return context.skip(`${missing} is not installed: npm ci`);
  const [exact, plain] = Object.values(READERS).map((program) => (file) => ask(program, file));
  const [quotedNull, illFormed] = ["\\N", "\xff"].map((text) => `"I","t","s",1,"${text}","",1\r\n`);
  assert.equal(exact(quotedNull).events[0].after.a, "\\N");
  assert.equal(plain(quotedNull).events[0].after.a, null);
  assert.deepEqual(exact(illFormed).events[0].after.a, { bytes: "/w==" });
  assert.ok(plain(illFormed).rejected);
});
