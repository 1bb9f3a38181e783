/**
 * Sets or removes one member of an object in JSON with comments and trailing commas, as the settings files of editors have them. All other bytes
 * stay as they are. A file that is not such JSON is refused with its line.
 */
import { withoutComments } from '../../core/json/json-comments.ts';
import { CommandFailure } from '../failure.ts';

/** A value with its place in the text. `members`: of an object; `from` of a member is the start of its name. */
type Node = { from: number; to: number; members: Member[] | null };
type Member = { name: string; from: number; value: Node };

/** `value` undefined: the member is removed, and an object that it leaves empty. Returns the text unchanged if there is nothing to remove. */
export function editJsonc(text: string, [section, name]: readonly [string, string], value: unknown): string {
  const isBlank = text.replace(/^\uFEFF/, '').trim() === '';
  if (isBlank) return value === undefined ? text : `${JSON.stringify({ [section]: { [name]: value } }, null, 2)}\n`;
  const root = new Reader(text).document();
  const found = memberOf(root, section);
  if (found !== undefined && found.value.members === null) throw new Refused(text, found.value.from, `"${section}" is not an object`);
  if (value === undefined) {
    if (found === undefined || memberOf(found.value, name) === undefined) return text;
    const isOnly = found.value.members?.length === 1 && !hasComment(text, found.value, name);
    return isOnly ? removed(text, root, section) : removed(text, found.value, name);
  }
  if (found === undefined) return inserted(text, root, section, { [name]: value }, 1);
  const existing = memberOf(found.value, name);
  if (existing === undefined) return inserted(text, found.value, name, value, 2);
  const { from, to } = existing.value;
  const isLine = !text.slice(from, to).includes('\n');
  return text.slice(0, from) + (isLine ? JSON.stringify(value) : render(text, value, 2)) + text.slice(to);
}

/** Returns the value of the member; undefined: there is none. */
export function readJsonc(text: string, [section, name]: readonly [string, string]): unknown {
  if (text.replace(/^\uFEFF/, '').trim() === '') return undefined;
  const found = memberOf(new Reader(text).document(), section)?.value;
  const value = found === undefined ? undefined : memberOf(found, name)?.value;
  return value === undefined ? undefined : JSON.parse(withoutComments(text.slice(value.from, value.to)));
}

class Refused extends CommandFailure {
  constructor(text: string, at: number, what: string) {
    const before = text.slice(0, at).split('\n');
    const place = `line ${before.length}, column ${(before.at(-1)?.length ?? 0) + 1}`;
    super(`The file is not changed: ${what} (${place}).`, 'Fix it there, or add the entry by hand.');
  }
}

function memberOf({ members }: Node, name: string): Member | undefined {
  // The last one counts for readers of JSON.
  return members?.findLast((member) => member.name === name);
}

/** The unit of indentation: that of the first indented line. */
function unitOf(text: string): string {
  return /^([ \t]+)["}]/m.exec(text)?.[1] ?? '  ';
}

function lineEndOf(text: string): string {
  return text.includes('\r\n') ? '\r\n' : '\n';
}

function render(text: string, value: unknown, depth: number): string {
  const unit = unitOf(text);
  return JSON.stringify(value, null, unit).replaceAll('\n', lineEndOf(text) + unit.repeat(depth));
}

/** After the last member. */
function inserted(text: string, { from, to, members }: Node, name: string, value: unknown, depth: number): string {
  const [unit, end] = [unitOf(text), lineEndOf(text)];
  const member = `${JSON.stringify(name)}: ${render(text, value, depth)}`;
  const last = members?.at(-1);
  if (last === undefined) {
    const inner = text.slice(from + 1, to - 1);
    const kept = inner.trim() === '' ? '' : inner.trimEnd();
    return `${text.slice(0, from + 1)}${kept}${end}${unit.repeat(depth)}${member}${end}${unit.repeat(depth - 1)}${text.slice(to - 1)}`;
  }
  const comma = commaAfter(text, last.value.to);
  const at = comma === null ? last.value.to : comma + 1;
  if (!text.slice(from, to).includes('\n'))
    return `${text.slice(0, at)}${comma === null ? ', ' : ' '}${JSON.stringify(name)}: ${JSON.stringify(value)}${comma === null ? '' : ','}${text.slice(at)}`;
  // A comment on the line of the last member is about that.
  const comment = /^[ \t]*\/\/[^\r\n]*/.exec(text.slice(at))?.[0] ?? '';
  const line = `${comma === null ? ',' : ''}${comment}${end}${unit.repeat(depth)}${member}${comma === null ? '' : ','}`;
  return text.slice(0, at) + line + text.slice(at + comment.length);
}

/** With its comma, and with the line break before it. */
function removed(text: string, { from, to, members }: Node, name: string): string {
  const list = members ?? [];
  const index = list.findLastIndex((member) => member.name === name);
  const member = list[index];
  if (member === undefined) return text;
  const comma = commaAfter(text, member.value.to);
  const end = comma === null ? member.value.to : comma + 1;
  if (list.length === 1) {
    const rest = text.slice(from + 1, member.from) + text.slice(end, to - 1);
    return text.slice(0, from + 1) + (rest.trim() === '' ? '' : rest) + text.slice(to - 1);
  }
  const start = member.from - (/(?:\r?\n)?[ \t]*$/.exec(text.slice(0, member.from))?.[0].length ?? 0);
  if (comma !== null) return text.slice(0, start) + text.slice(end);
  // The last one: the comma of the one before goes, too.
  const before = commaAfter(text, list[index - 1]?.value.to ?? 0);
  return before === null ? text : text.slice(0, before) + text.slice(before + 1, start) + text.slice(end);
}

/** Returns where the comma is that follows, or null. */
function commaAfter(text: string, from: number): number | null {
  const reader = new Reader(text, from);
  reader.skip();
  return text[reader.at] === ',' ? reader.at : null;
}

function hasComment(text: string, { from, to }: Node, name: string): boolean {
  const node = new Reader(text, from).value();
  const member = memberOf(node, name);
  return member !== undefined && /\/[/*]/.test(text.slice(from, member.from) + text.slice(member.value.to, to));
}

const maxDepth = 200;

class Reader {
  readonly #text: string;
  at: number;
  #depth = 0;

  constructor(text: string, at = 0) {
    this.#text = text;
    this.at = at;
  }

  document(): Node {
    if (this.#text.startsWith('\uFEFF')) this.at = 1;
    this.skip();
    const root = this.value();
    this.skip();
    if (root.members === null) this.#refuse('it is not a JSON object');
    if (this.at < this.#text.length) this.#refuse('more follows its end');
    return root;
  }

  value(): Node {
    const from = this.at;
    const char = this.#text[from];
    if (char === '{') return { from, members: this.#object(), to: this.at };
    if (char === '[') this.#list(']', () => void this.value());
    else if (char === '"') this.#string();
    else if (!this.#take(/(?:-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)/y)) this.#refuse('a JSON value is expected');
    return { from, members: null, to: this.at };
  }

  /** Whitespace and comments. */
  skip(): void {
    while (this.#take(/\s+|\/\/[^\n]*|\/\*[\s\S]*?\*\//y));
  }

  #object(): Member[] {
    const members: Member[] = [];
    this.#list('}', () => {
      const from = this.at;
      const name = this.#string();
      this.skip();
      if (this.#text[this.at] !== ':') this.#refuse('":" is expected');
      this.at += 1;
      this.skip();
      members.push({ name, from, value: this.value() });
    });
    return members;
  }

  #list(close: string, item: () => void): void {
    this.#depth += 1;
    if (this.#depth > maxDepth) this.#refuse('it is nested too deep');
    this.at += 1;
    for (;;) {
      this.skip();
      if (this.#text[this.at] === close) break;
      item();
      this.skip();
      if (this.#text[this.at] === ',') this.at += 1;
      else if (this.#text[this.at] !== close) this.#refuse(`"," or "${close}" is expected`);
    }
    this.at += 1;
    this.#depth -= 1;
  }

  #string(): string {
    const from = this.at;
    if (!this.#take(/"(?:[^"\\\n]|\\.)*"/y)) this.#refuse('a text in quotation marks is expected');
    try {
      return JSON.parse(this.#text.slice(from, this.at)) as string;
    } catch {
      this.at = from;
      return this.#refuse('the text is not valid JSON');
    }
  }

  #take(pattern: RegExp): boolean {
    pattern.lastIndex = this.at;
    if (!pattern.test(this.#text)) return false;
    this.at = pattern.lastIndex;
    return true;
  }

  #refuse(what: string): never {
    throw new Refused(this.#text, this.at, what);
  }
}
