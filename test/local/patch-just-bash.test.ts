/** The patch of the shell's interpreter: what the installer applies, and its errors. */
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { projectRoot } from '../../src/local/launch/environment.ts';
import { applyPatch } from '../../src/local/build/patch-just-bash.ts';
import { installInterpreterHooks } from '../../src/tools/shell/interpreter-hooks.ts';
import { interpreterPatch } from '../../src/tools/shell/interpreter-patch.ts';

const installed = join(projectRoot, 'node_modules', interpreterPatch.package);
const original = readFileSync(join(installed, `${interpreterPatch.file}.orig`), 'utf8');
let folder: string;
const file = (): string => join(folder, interpreterPatch.file);

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'just-bash-'));
  mkdirSync(join(folder, 'dist/bundle'), { recursive: true });
  cpSync(join(installed, 'package.json'), join(folder, 'package.json'));
  writeFileSync(file(), original);
});

afterEach(() => rmSync(folder, { recursive: true }));

it('is installed: no edit of interpreter-patch.ts is missing in node_modules', () => {
  expect(applyPatch(folder)).toBe(true);
  expect(readFileSync(join(installed, interpreterPatch.file), 'utf8') === readFileSync(file(), 'utf8')).toBe(true);
});

it('is for the version that package.json pins', () => {
  const { devDependencies } = JSON.parse(readFileSync(join(projectRoot, 'package.json'), 'utf8')) as {
    devDependencies: Record<string, string>;
  };
  expect(devDependencies[interpreterPatch.package]).toBe(interpreterPatch.version);
});

it('may be applied again, also after it has changed', () => {
  expect([applyPatch(folder), applyPatch(folder)]).toEqual([true, false]);
  const before = readFileSync(file(), 'utf8');
  expect(applyPatch(folder, { ...interpreterPatch, edits: interpreterPatch.edits.slice(-1) })).toBe(true);
  expect(readFileSync(file(), 'utf8').length).toBeLessThan(before.length);
  expect(applyPatch(folder)).toBe(true);
  expect(readFileSync(file(), 'utf8') === before).toBe(true);
});

it('reports why it does not apply: another version, another file, a text that does not occur once', () => {
  const advice = 'Delete node_modules/just-bash and run npm install.';
  const edit = (find: string) => ({ ...interpreterPatch, edits: [{ what: 'a test', find, replace: '' }] });
  expect(() => applyPatch(folder, edit('no such text'))).toThrow(`"a test": its text occurs 0 times instead of 1. ${advice}`);
  expect(() => applyPatch(folder, edit('async executeLine('))).not.toThrow();
  expect(() => applyPatch(folder, { ...interpreterPatch, version: '9.9.9' })).toThrow(`version 3.4.2 is installed. ${advice}`);
  rmSync(`${file()}.orig`);
  writeFileSync(file(), `${original} `);
  expect(() => applyPatch(folder)).toThrow(`dist/bundle/browser.js is not the published file. ${advice}`);
  rmSync(join(folder, 'package.json'));
  expect(() => applyPatch(folder)).toThrow('version none is installed');
});

it('is required: without it the worker does not start', () => {
  expect(() => installInterpreterHooks({})).toThrow('The installed just-bash is not patched. Run npm run build');
});
