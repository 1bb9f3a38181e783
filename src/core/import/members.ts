/**
 * The members of a file's objects, read one by one, so that each has a fate: a reader takes it, or says why not, and what no reader has asked
 * for is listed with its path when the import ends (`ImportDraft.result`). Readers of formats get the file as `Members`, not as a value.
 */
import { isRecord, type Json } from '../json/wire-value.ts';

/** `path`: of the member in the file, such as `mcpServers.github.headers`. `isTaken`: the member has an effect, but another one. */
export type MemberFault = { path: string; reason: string; isTaken?: true };

/** A header, variable or parameter. `path`: in the file. */
export type WrittenValue = { name: string; text: string; path: string };

export class Members {
  /** Of this object in the file; '' for the file itself. */
  readonly path: string;
  readonly #value: Json;
  readonly #report: (fault: MemberFault) => void;
  /** What was asked for, and the readers of the objects in it. */
  readonly #read = new Map<string, readonly Members[]>();

  constructor(value: Json, path: string, report: (fault: MemberFault) => void) {
    this.#value = value;
    this.path = path;
    this.#report = report;
  }

  /** Whether the member is set. Does not read it. */
  has(name: string): boolean {
    return Object.hasOwn(this.#value, name) && this.#value[name] !== null && this.#value[name] !== undefined;
  }

  names(): string[] {
    return Object.keys(this.#value).filter((name) => this.has(name));
  }

  pathOf(name: string): string {
    return this.path === '' ? name : `${this.path}.${name}`;
  }

  /** Returns a member without reading it, to choose how to read it. */
  peek(name: string): unknown {
    return this.has(name) ? this.#value[name] : undefined;
  }

  /** Reads a member whole, with everything in it. `names`: what files call it; if several are set, the first counts and the others are reported. */
  take(...names: readonly string[]): unknown {
    const [first, ...others] = names.filter((name) => this.has(name));
    for (const name of names) this.#read.set(name, []);
    for (const name of others) this.fault(name, `is not used, since ${first} says the same`);
    return first === undefined ? undefined : this.#value[first];
  }

  /** Returns null if it is not set, or is no text, which is reported. */
  text(...names: readonly string[]): string | null {
    return this.#typed(names, 'text', (value): value is string => typeof value === 'string');
  }

  /** Also `yes`, `off` and the like, and 0 and 1: files of YAML 1.1 mean a boolean. */
  flag(...names: readonly string[]): boolean | null {
    const value = this.#typed(names, 'true or false', (one): one is boolean => flagOf(one) !== null);
    return value === null ? null : flagOf(value);
  }

  number(...names: readonly string[]): number | null {
    return this.#typed(names, 'a number', (value): value is number => typeof value === 'number' && Number.isFinite(value));
  }

  /** A list of texts; numbers and booleans are texts here. A single text is a list of one. Others in it are reported. */
  texts(...names: readonly string[]): string[] | null {
    const list = this.#typed(
      names,
      'a list of texts',
      (value): value is string | unknown[] => typeof value === 'string' || Array.isArray(value),
    );
    if (list === null) return null;
    const texts = (typeof list === 'string' ? [list] : list).filter(isScalar).map(String);
    if (texts.length < list.length && typeof list !== 'string')
      this.fault(this.#set(names), 'has items that are not text, which were left out');
    return texts;
  }

  /** Null also if the list has others, without which it would mean something else. One that is not set is empty. */
  allTexts(name: string): string[] | null {
    const [texts, given] = [this.texts(name), this.peek(name)];
    if (given === undefined) return [];
    return Array.isArray(given) && (texts ?? []).length < given.length ? null : texts;
  }

  /** The members of this object as texts, by name; numbers and booleans are texts here. Others in it are reported. */
  values(): WrittenValue[] {
    return this.names().flatMap((name): WrittenValue[] => {
      const value = this.take(name);
      if (isScalar(value)) return [{ name, text: String(value), path: this.pathOf(name) }];
      this.fault(name, 'is not text, so that it was left out');
      return [];
    });
  }

  /** An object whose members are read in their turn. */
  record(...names: readonly string[]): Members | null {
    const value = this.#typed(names, 'an object', isRecord);
    return value === null ? null : (this.#open(this.#set(names), [['', value]])[0]?.[1] ?? null);
  }

  /** The objects of a map, by name. What is no object is reported. */
  entries(...names: readonly string[]): [name: string, Members][] {
    const value = this.#typed(names, 'an object', isRecord);
    return value === null ? [] : this.#open(this.#set(names), Object.entries(value), (name) => `.${name}`);
  }

  /** The objects of a list. What is no object is reported. */
  items(...names: readonly string[]): Members[] {
    const value = this.#typed(names, 'a list', (one): one is unknown[] => Array.isArray(one));
    if (value === null) return [];
    const rows = value.map((item, index): [string, unknown] => [`[${index}]`, item]);
    return this.#open(this.#set(names), rows, (place) => place).map(([, item]) => item);
  }

  /** Says why members that are set are not taken. */
  skip(names: readonly string[], reason: string): void {
    for (const name of names) {
      this.#read.set(name, []);
      if (this.has(name) && !isEmpty(this.#value[name])) this.fault(name, reason);
    }
  }

  /** The same for those of them that no reader has taken. */
  skipUnread(names: readonly string[], reason: string): void {
    this.skip(
      names.filter((name) => !this.#read.has(name)),
      reason,
    );
  }

  /** The same for those whose name matches. */
  skipLike(pattern: RegExp, reason: string): void {
    this.skipUnread(
      this.names().filter((name) => pattern.test(name)),
      reason,
    );
  }

  /** Says why members of another program or purpose are not taken: those that no reader has taken. */
  skipOthers(reason: string): void {
    this.skipUnread(this.names(), reason);
  }

  /** Says why nothing of this object is taken. */
  skipWhole(reason: string): void {
    this.ignore(...this.names());
    this.fault('', reason);
  }

  /** Members that mean nothing outside of their program or file: `$schema`, the position of a window. */
  ignore(...names: readonly string[]): void {
    for (const name of names) this.#read.set(name, []);
  }

  /** Says what is wrong with a member of this object. */
  fault(name: string, reason: string): void {
    this.#report({ path: name === '' ? this.path : this.pathOf(name), reason });
  }

  /** Says that a member has an effect here, but not the one that the file means. */
  change(name: string, how: string): void {
    this.#report({ path: name === '' ? this.path : this.pathOf(name), reason: how, isTaken: true });
  }

  /** The paths of what no reader has taken, in the order of the file. */
  unread(): string[] {
    return this.names().flatMap((name) => {
      const inside = this.#read.get(name);
      return inside === undefined ? [this.pathOf(name)] : inside.flatMap((one) => one.unread());
    });
  }

  #typed<Value>(names: readonly string[], what: string, is: (value: unknown) => value is Value): Value | null {
    const value = this.take(...names);
    if (value === undefined) return null;
    if (is(value)) return value;
    this.fault(this.#set(names), `is not ${what}, so that it was left out`);
    return null;
  }

  /** The name under which a member is set. */
  #set(names: readonly string[]): string {
    return names.find((name) => this.has(name)) ?? names[0] ?? '';
  }

  #open(name: string, rows: readonly (readonly [string, unknown])[], place: (key: string) => string = () => ''): [string, Members][] {
    const opened = rows.flatMap(([key, value]): [string, Members][] => {
      const path = `${this.pathOf(name)}${place(key)}`;
      if (isRecord(value)) return [[key, new Members(value, path, this.#report)]];
      this.#report({ path, reason: `is ${value === null ? 'empty' : 'not an object'}, so that it was left out` });
      return [];
    });
    this.#read.set(
      name,
      opened.map(([, members]) => members),
    );
    return opened;
  }
}

function isScalar(value: unknown): value is string | number | boolean {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
}

function flagOf(value: unknown): boolean | null {
  if (typeof value === 'boolean') return value;
  if (value === 0 || value === 1) return value === 1;
  if (typeof value !== 'string') return null;
  return /^(true|yes|on)$/i.test(value) ? true : /^(false|no|off)$/i.test(value) ? false : null;
}

function isEmpty(value: unknown): boolean {
  return value === '' || value === false || (typeof value === 'object' && value !== null && Object.keys(value).length === 0);
}
