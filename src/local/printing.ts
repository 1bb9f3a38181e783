/**
 * All that the launcher and the commands print goes through here. Texts of documents, models, tools and services could otherwise move the cursor,
 * hide what is printed or send commands to the terminal.
 */
import { terminalText } from '../core/text/visible-text.ts';

/** A message, on stdout. */
export function print(text: string): void {
  writeVisible(`${terminalText(text)}\n`);
}

/** A message or an error, on stderr. */
export function printError(text: string): void {
  writeVisible(`${terminalText(text)}\n`, process.stderr);
}

/** A result or a log line, on stdout: it arrives unchanged in a pipe or a file, where a program reads it. */
export function printData(text: string): void {
  writeVisible(`${process.stdout.isTTY ? terminalText(text) : text}\n`);
}

/** Writes text that was made visible before, with its colors, and without a line end. */
export function writeVisible(text: string, stream: NodeJS.WriteStream = process.stdout): void {
  stream.write(text);
}
