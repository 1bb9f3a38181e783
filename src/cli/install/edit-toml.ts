/**
 * Sets or removes the table `[mcp_servers.NAME]` of a TOML file, as text: all other bytes stay as they are. What the file says in another way,
 * such as an inline table, is refused with its line. TOML 1.0: https://toml.io/en/v1.0.0
 */
import { CommandFailure } from '../failure.ts';

type Line = { text: string; from: number /** The line begins a table or a key, and is not part of a value. */; isStart: boolean };

/** `body`: the lines below the header; null: the table is removed. Returns the text unchanged if there is nothing to remove. */
export function editToml(text: string, name: string, body: string | null): string {
  const lines = linesOf(text);
  refuseOtherForms(lines, name);
  const end = text.includes('\r\n') ? '\r\n' : '\n';
  const found = tableOf(lines, text, name);
  if (found === null) {
    if (body === null) return text;
    const gap = text === '' ? '' : text.endsWith('\n') ? end : end + end;
    return text + gap + toText(name, body, end);
  }
  const [from, to] = found;
  const rest = text.slice(to);
  if (body !== null) return text.slice(0, from) + toText(name, body, end) + rest;
  // The empty line above belongs to the last table, and that below to another one.
  if (rest === '') return text.slice(0, from).replace(/(\r?\n)\r?\n$/, '$1');
  return text.slice(0, from) + rest.replace(/^\r?\n/, '');
}

/** Returns the lines of the table below its header; null: there is none. */
export function readToml(text: string, name: string): string | null {
  const lines = linesOf(text);
  refuseOtherForms(lines, name);
  const found = tableOf(lines, text, name);
  return found === null
    ? null
    : text
        .slice(...found)
        .split('\n')
        .slice(1)
        .join('\n');
}

function toText(name: string, body: string, end: string): string {
  return `[mcp_servers.${keyText(name)}]\n${body}\n`.replaceAll('\n', end);
}

/** A bare key, or one in quotation marks. */
export function keyText(name: string): string {
  return /^[A-Za-z0-9_-]+$/.test(name) ? name : JSON.stringify(name);
}

/** From the header to the next table that is not within it, without the comments and empty lines above that. */
function tableOf(lines: readonly Line[], text: string, name: string): [from: number, to: number] | null {
  const headers = lines.filter(({ isStart, text: line }) => isStart && line.trimStart().startsWith('['));
  const isOwn = (line: Line): boolean => {
    const path = headerPath(line.text);
    return path[0] === 'mcp_servers' && path[1] === name;
  };
  const first = headers.findIndex(isOwn);
  const header = headers[first];
  if (header === undefined) return null;
  const others = headers.slice(first).filter((line) => !isOwn(line));
  const scattered = headers.findLast(isOwn);
  const next = others[0];
  if (next !== undefined && scattered !== undefined && scattered.from > next.from)
    throw refused(lines, scattered, `[mcp_servers.${name}] is in several places`);
  const inner = lines.filter(({ from }) => from >= header.from && (next === undefined || from < next.from));
  const last = inner.findLast(({ text: line, isStart }) => !isStart || !/^\s*(?:#.*)?\r?$/.test(line)) ?? header;
  return [header.from, Math.min(text.length, last.from + last.text.length + 1)];
}

/** A key or table that would be in conflict with a new table. */
function refuseOtherForms(lines: readonly Line[], name: string): void {
  let table: readonly string[] = [];
  for (const line of lines) {
    if (!line.isStart) continue;
    const isHeader = line.text.trimStart().startsWith('[');
    if (isHeader) table = headerPath(line.text);
    const path = isHeader ? [] : [...table, ...keyPath(line.text)];
    const isOther = path[0] === 'mcp_servers' && (path.length === 1 || (path[1] === name && table.length < 2));
    const isList = isHeader && line.text.trimStart().startsWith('[[') && table[0] === 'mcp_servers' && table.length <= 2;
    if (isOther || isList) throw refused(lines, line, 'it sets mcp_servers in a way that this command does not edit');
  }
}

function refused(lines: readonly Line[], line: Line, what: string): CommandFailure {
  return new CommandFailure(`The file is not changed: ${what} (line ${lines.indexOf(line) + 1}).`, 'Change it by hand.');
}

function headerPath(line: string): string[] {
  return keyPath(line.trim().replace(/^\[\[?/, ''));
}

/** The parts of a dotted key at the start of the text. */
function keyPath(text: string): string[] {
  const parts: string[] = [];
  const part = /\s*(?:([A-Za-z0-9_-]+)|"((?:[^"\\]|\\.)*)"|'([^']*)')\s*(\.?)/y;
  for (let more = '.'; more === '.'; ) {
    const [, bare, quoted, literal, dot = ''] = part.exec(text) ?? [];
    const name = bare ?? literal ?? (quoted === undefined ? undefined : unquote(quoted));
    if (name === undefined) break;
    parts.push(name);
    more = dot;
  }
  return parts;
}

function unquote(text: string): string {
  try {
    return JSON.parse(`"${text}"`) as string;
  } catch {
    // An escape that JSON does not have, in a name that is not ours.
    return text;
  }
}

/** Splits the text, and finds which lines continue a value: texts of several lines, and lists. */
function linesOf(text: string): Line[] {
  const lines: Line[] = [];
  let from = 0;
  let state: { quote: string | null; depth: number } = { quote: null, depth: 0 };
  for (const line of text.split('\n')) {
    const isStart = state.quote === null && state.depth === 0;
    lines.push({ text: line, from, isStart });
    const isHeader = isStart && /^\s*\[/.test(line);
    state = isHeader ? state : afterLine(line, state);
    from += line.length + 1;
  }
  if (state.quote !== null || state.depth > 0)
    throw new CommandFailure(
      `The file is not changed: a value does not end (it begins on line ${lines.findLastIndex(({ isStart }) => isStart) + 1}).`,
      'Fix it there, or add the entry by hand.',
    );
  return lines;
}

function afterLine(line: string, { quote: open, depth: before }: { quote: string | null; depth: number }) {
  let [quote, depth] = [open, before];
  for (let at = 0; at < line.length; ) {
    if (quote !== null) {
      if (quote.startsWith('"') && line[at] === '\\') at += 2;
      else if (line.startsWith(quote, at)) [at, quote] = [at + quote.length, null];
      else at += 1;
      continue;
    }
    if (line[at] === '#') break;
    const mark = /"""|'''|"|'/y;
    mark.lastIndex = at;
    const found = mark.exec(line)?.[0];
    if (found !== undefined) [quote, at] = [found, at + found.length];
    else {
      if (line[at] === '[' || line[at] === '{') depth += 1;
      if (line[at] === ']' || line[at] === '}') depth = Math.max(0, depth - 1);
      at += 1;
    }
  }
  // A text with one mark ends with its line.
  return { quote: quote?.length === 3 ? quote : null, depth };
}
