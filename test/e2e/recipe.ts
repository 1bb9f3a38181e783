/**
 * The commands of a section of the README, as a reader would paste them: what a recipe says is what its test runs. Understands the two
 * forms that recipes use, `put <path> '<json>'` and `curl -X … -d '<json>'`, and fails over any other line of code in the section.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { root, type Answer, type RunningService } from './service.ts';

/** `path` from the root of the service; may hold `$NAMES`. `body`: JSON as it is written there. */
export type RecipeCommand = { method: string; path: string; body: string };

export function readRecipe(heading: string): RecipeCommand[] {
  const [, section] = readFileSync(join(root, 'README.md'), 'utf8').split(new RegExp(`\\n#{3,4} ${heading}\\n`));
  if (section === undefined) throw new Error(`README.md has no section "${heading}"`);
  const code = (section.split(/\n#{2,4} /)[0] ?? '')
    .split('\n')
    .filter((line) => line.startsWith('    '))
    .join('\n')
    .replace(/^ {4}put\(\) \{.*\}$/m, '');
  const commands: RecipeCommand[] = [];
  const rest = code.replaceAll(command, (_text, put?: string, putBody?: string, method?: string, path?: string, body?: string) => {
    commands.push({ method: method ?? 'PUT', path: path ?? `/v1/${put}`, body: putBody ?? body ?? '' });
    return '';
  });
  if (rest.trim() !== '') throw new Error(`the recipe "${heading}" has commands that no test runs:\n${rest.trim()}`);
  return commands;
}

/** No JSON of a recipe holds a `'`, as the shell's quotes would end there. */
const command = / {4}(?:put (\S+) '([^']*)'|curl -X (\w+) http:\/\/127\.0\.0\.1:8787(\S+)[^']*'[^']*'[^']*'([^']*)')/g;

/**
 * Runs it. `insteadOf`: what stands in the README and what stands in its place here (addresses and models that the test has on this
 * machine); each must be there.
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
  expect([...unseen], 'not in the recipe any more').toEqual([]);
  return answers;
}
