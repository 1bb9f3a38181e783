/** What commands print. Text of models, tools and servers is made visible first: in a terminal it could move the cursor or hide itself. */
import { styleText } from 'node:util';
import { showInvisible } from '../core/text/visible-text.ts';

export type JsonOption = { json?: boolean };

export function printJson(value: unknown): void {
  console.log(JSON.stringify(value, null, 2));
}

/** Removes nothing from what goes into a pipe or a file. */
export function foreignText(text: string): string {
  return process.stdout.isTTY ? showInvisible(text) : text;
}

/** Colors only in a terminal, and without NO_COLOR. */
export function styled(style: Parameters<typeof styleText>[0], text: string): string {
  return styleText(style, text, { stream: process.stdout });
}

/** Rows with aligned columns, each row as one line. */
export function renderTable(rows: readonly (readonly string[])[]): string {
  const widths = rows.reduce<number[]>((sofar, row) => row.map((cell, column) => Math.max(sofar[column] ?? 0, cell.length)), []);
  return rows
    .map((row) => row.map((cell, column) => (column === row.length - 1 ? cell : cell.padEnd(widths[column] ?? 0))).join('  '))
    .join('\n');
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
    process.stderr.write(`\r${text.padEnd(this.#length)}`);
    this.#length = text.length;
  }

  /** Removes the line. */
  end(): void {
    if (this.#length > 0) process.stderr.write(`\r${' '.repeat(this.#length)}\r`);
    this.#length = 0;
  }
}
