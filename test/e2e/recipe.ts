/**
 * The commands of a documentation page and the configuration of an example, so that a test runs what a reader runs. A command of a page has
 * the form `api <method> <path> '<json>'`.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { readDocument } from './document.ts';
import { root, type Answer, type RunningService } from './service.ts';

/** `path` is relative to the service's root. `body`: JSON. */
export type RecipeCommand = { method: string; path: string; body: string };

/** The commands of a page that write to one of `paths`. */
export function readCommands(page: string, paths: readonly string[]): RecipeCommand[] {
  const code = readDocument(page)
    .blocks.map((block) => block.code)
    .join('\n');
  const commands = [...code.matchAll(/^api (\w+) (\S+) '([^']*)'/gm)]
    .map(([, method = '', path = '', body = '']) => ({ method, path, body }))
    .filter(({ path }) => paths.includes(path));
  expect(
    commands.map(({ path }) => path),
    page,
  ).toEqual(paths);
  return commands;
}

/** The documents of `examples/<example>/setup.json`, in order. */
export function readSetup(example: string): RecipeCommand[] {
  const documents = JSON.parse(readFileSync(join(root, 'examples', example, 'setup.json'), 'utf8')) as { path: string; body: unknown }[];
  return documents.map(({ path, body }) => ({ method: 'PUT', path, body: JSON.stringify(body) }));
}

/**
 * Runs the commands. `insteadOf`: texts of the commands and their replacements, such as addresses and models of the test; each must
 * occur.
 */
export async function runRecipe(
  { call }: Pick<RunningService, 'call'>,
  commands: readonly RecipeCommand[],
  insteadOf: Readonly<Record<string, string>>,
): Promise<Answer[]> {
  const unseen = new Set(Object.keys(insteadOf));
  const fill = (text: string): string => {
    let filled = text;
    for (const [from, to] of Object.entries(insteadOf)) {
      if (filled.includes(from)) unseen.delete(from);
      filled = filled.replaceAll(from, to);
    }
    return filled;
  };
  const answers: Answer[] = [];
  for (const { method, path, body } of commands) {
    const answer = await call(method, fill(path), fill(body));
    expect(answer.status, `${method} ${path}: ${answer.text}`).toBeLessThan(300);
    answers.push(answer);
  }
  expect([...unseen], 'texts that the commands no longer contain').toEqual([]);
  return answers;
}
