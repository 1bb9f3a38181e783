/**
 * Asks before a folder that may come from a stranger is used: its project file can run commands and send variables of the environment, its data
 * folder has servers and schedules. The answer is remembered outside of the folder (docs/cli.md).
 */
import { readdirSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { Command } from 'commander';
import { reachOf } from '../core/project/project-reach.ts';
import type { DataFolder } from '../local/launch/environment.ts';
import { acceptedEffects, acceptEffects, effectHash, isTrustedDataFolder } from '../local/launch/trusted-folders.ts';
import { printError } from '../local/printing.ts';
import { isYes } from './chat/chat-questions.ts';
import { CommandFailure, messageOf } from './failure.ts';
import { askLine, canAsk } from './terminal.ts';

export type TrustOptions = { trust?: boolean };

/** What has to be accepted. `lines`: what it does; `isNew`: since it was accepted last. */
export type TrustQuestion = { subject: string; lines: { text: string; isNew: boolean }[]; remember(): void };

/** A person does not read more than this. */
const maxLines = 200;
const maxCharacters = 20_000;

export function addTrustOption(command: Command): Command {
  return command.option('--trust', 'accept what the project file and the data folder of this folder do, and remember it for the folder');
}

/**
 * Asks about all of them at once. Throws unless they are accepted: with `--trust`, or by the person at the terminal. `isNamed`: on the command
 * line, which is a decision where there is no terminal to ask at. `alternatives`: what else the user can do.
 */
export async function requireAccepted(
  questions: readonly TrustQuestion[],
  { trust, isNamed = false, alternatives = '' }: TrustOptions & { isNamed?: boolean; alternatives?: string },
): Promise<void> {
  if (questions.length === 0) return;
  if (!trust && !(await isAccepted(questions, isNamed, alternatives))) return;
  for (const { subject, remember } of questions) rememberOrWarn(remember, subject);
}

/** False: there is no terminal to ask at, and the user has decided by naming the file. Throws for a no. */
async function isAccepted(questions: readonly TrustQuestion[], isNamed: boolean, alternatives: string): Promise<boolean> {
  const lines = questions.flatMap(({ subject, lines }) => [
    `${subject}${lines.length === 0 ? '.' : ':'}`,
    ...lines.map(({ text, isNew }) => `  ${isNew ? 'new: ' : ''}${text}`),
  ]);
  const isLong = lines.length > maxLines || lines.join('').length > maxCharacters;
  const shown = isLong ? questions.map(({ subject }) => `${subject}: more than can be shown here`) : lines;
  for (const line of shown) printError(line);
  if (isNamed && !canAsk()) return false;
  if (isLong || !canAsk())
    throw new CommandFailure(
      'This has not been accepted yet, so nothing was done.',
      `Read it. Then accept it with --trust${isLong ? '' : ', or run the command in a terminal, which asks you'}. ${alternatives}`.trim(),
    );
  if (!isYes((await askLine('Do you know where this comes from, and accept it? [y/N] ')) ?? ''))
    throw new CommandFailure('It was not accepted, so nothing was done.', alternatives);
  return true;
}

/** A decision that cannot be stored counts for this time. */
export function rememberOrWarn(remember: () => void, subject: string): void {
  try {
    remember();
  } catch (error) {
    printError(`warning: this cannot be remembered (${messageOf(error)}): ${subject}`);
  }
}

type QuestionOptions = { isFirst: boolean; isRemote?: boolean };

/** Null: all of it was accepted, or it only writes documents. `isFirst`: a folder that was never accepted is a question in itself. `isRemote`: it is in no folder, so nothing is remembered. */
export function projectQuestion(file: string, content: unknown, { isFirst, isRemote = false }: QuestionOptions): TrustQuestion | null {
  const folder = dirname(resolve(file));
  const accepted = isRemote ? null : acceptedEffects(folder, process.env);
  const lines = reachOf(content).map((text) => ({ text, isNew: accepted !== null && !accepted.has(effectHash(text)) }));
  const isAccepted = accepted === null ? !isFirst && lines.length === 0 : !lines.some(({ isNew }) => isNew);
  if (isAccepted) return null;
  return {
    subject: lines.length === 0 ? `Applying ${file} only writes documents` : `Applying ${file} does more than write documents`,
    lines,
    remember: () => {
      const effects = lines.map(({ text }) => effectHash(text));
      if (!isRemote) acceptEffects(folder, effects, process.env);
    },
  };
}

/** Null: it was named, is new, or was used before. `start` remembers the folder when it has keys. */
export function dataFolderQuestion(folder: DataFolder): TrustQuestion | null {
  if (isTrustedDataFolder(folder, process.env) || isEmpty(folder.path)) return null;
  return {
    subject: `${folder.path} has data that you did not start a service with: its servers run commands, and its schedules and sessions continue`,
    lines: [],
    remember: () => undefined,
  };
}

function isEmpty(folder: string): boolean {
  try {
    return readdirSync(folder).length === 0;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return true; // fs errors carry a code
    throw error;
  }
}
