/** How commands show their results. `printing.ts` prints them. */
import { styleText } from 'node:util';
import { terminalJson, terminalText } from '../core/text/visible-text.ts';
import { print, writeVisible } from '../local/printing.ts';

export type JsonOption = { json?: boolean };

/** It parses to the same value. */
export function printJson(value: unknown): void {
  print(terminalJson(value));
}

/** A message of which parts are styled. */
export function printStyled(text: string, stream?: NodeJS.WriteStream): void {
  writeVisible(`${text}\n`, stream);
}

/** Makes the text visible. Colors only in a terminal, and without NO_COLOR. */
export function styled(style: Parameters<typeof styleText>[0], text: string): string {
  return styleText(style, terminalText(text), { stream: process.stdout });
}

/** The text of a document or service in a list of lines, to which it must not add one. */
export function inLine(text: string): string {
  return terminalText(text).replaceAll(/\s*\n\s*/g, ' ');
}

/** Rows with aligned columns, each row as one line. */
export function renderTable(given: readonly (readonly string[])[]): string {
  const rows = given.map((row) => row.map(inLine));
  const widths = rows.reduce<number[]>((sofar, row) => row.map((cell, column) => Math.max(sofar[column] ?? 0, cell.length)), []);
  return rows
    .map((row) => row.map((cell, column) => (column === row.length - 1 ? cell : cell.padEnd(widths[column] ?? 0))).join('  '))
    .join('\n');
}

export type Similar<T> = { first: T; others: readonly T[] };

/**
 * Groups items whose texts differ only in names and numbers, so that a list of a hundred warnings shows what there is to do: in the order of
 * their first members. `textOf` null: a group of its own.
 */
export function groupSimilar<T>(items: readonly T[], textOf: (item: T) => string | null): Similar<T>[] {
  const groups = new Map<unknown, { first: T; others: T[] }>();
  for (const item of items) {
    const text = textOf(item);
    const key = text === null ? item : templateOf(text);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, { first: item, others: [] });
    else group.others.push(item);
  }
  return [...groups.values()];
}

/** `github.create_issue cannot be called: …` and `slack.post cannot be called: …` have the same. */
function templateOf(text: string): string {
  return text
    .replaceAll(/"[^"]*"|`[^`]*`|such as \S+/g, '…')
    .replaceAll(/\b[\w-]+(?:\.[\w/[\]-]+)+/g, '…')
    .replaceAll(/\d[\d,.]*/g, '0');
}

/** The first names, and how many more there are. */
export function someNames(names: readonly string[], most = 5): string {
  const distinct = [...new Set(names)];
  const more = distinct.length - most;
  return more > 0 ? `${distinct.slice(0, most).join(', ')} and ${more} more` : distinct.join(', ');
}

/** A reader that closes the pipe (`moniker logs | head`) is no failure. */
export function endWithPipe(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(0);
    throw error;
  });
}

const progressIntervalMs = 200;

/** One line on stderr that is replaced as work proceeds; nothing outside of a terminal. */
export class Progress {
  #shownAt = 0;
  #length = 0;

  show(text: string): void {
    if (!process.stderr.isTTY || Date.now() - this.#shownAt < progressIntervalMs) return;
    this.#shownAt = Date.now();
    writeVisible(`\r${text.padEnd(this.#length)}`, process.stderr);
    this.#length = text.length;
  }

  /** Removes the line. */
  end(): void {
    if (this.#length > 0) writeVisible(`\r${' '.repeat(this.#length)}\r`, process.stderr);
    this.#length = 0;
  }
}
