/** What the commands that write a document share. A document that exists is replaced with `--replace` only. */
import type { Command } from 'commander';
import { addConnectionOptions, type ConnectionOptions } from './connection.ts';
import { CommandFailure } from './failure.ts';
import { printError } from '../local/printing.ts';
import { type JsonOption, inLine } from './output.ts';

export type AddOptions = ConnectionOptions & JsonOption & { replace?: boolean };

export function addWriteOptions(command: Command): Command {
  return addConnectionOptions(command.option('--replace', 'replace an existing one').option('--json', 'print the whole response'));
}

/** Headers of a write that must not replace a document. */
export function writeHeaders({ replace }: AddOptions): Record<string, string> {
  return replace ? {} : { 'if-none-match': '*' };
}

/** Explains a refusal because the document exists. */
export async function explainExisting<T>(what: string, write: Promise<T>): Promise<T> {
  try {
    return await write;
  } catch (error) {
    if (error instanceof Error && 'status' in error && error.status === 412)
      throw new CommandFailure(`${what} exists already.`, 'Choose another name, or replace it with --replace.');
    throw error;
  }
}

export function printWarnings(warnings: readonly { message: string }[]): void {
  for (const { message } of warnings) printError(`warning: ${inLine(message)}`);
}
