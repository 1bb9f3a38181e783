import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import type { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { readBoundedLines } from '../../src/cli/bounded-lines.ts';
import { listWords } from '../../src/cli/completion.ts';
import { createProgram } from '../../src/cli/program.ts';

const root = join(import.meta.dirname, '../..');
const page = readFileSync(join(root, 'docs/cli.md'), 'utf8');

/** Commands that do something, with their paths: `add server`. */
const leaves = (command: Command, path = ''): [path: string, command: Command][] =>
  command.commands.length === 0 ? [[path, command]] : command.commands.flatMap((one) => leaves(one, `${path} ${one.name()}`.trim()));

describe.each(leaves(createProgram()))('moniker %s', (path, command) => {
  it('has a help with a description of everything, and an example', () => {
    let help = '';
    command
      .configureOutput({
        writeOut: (text) => {
          help += text;
        },
      })
      .outputHelp();
    expect(help).toMatch(/^Examples?[:,]/m);
    for (const option of command.options) expect(option.description, option.flags).not.toBe('');
    for (const argument of command.registeredArguments) expect(argument.description || argument.argChoices, argument.name()).toBeTruthy();
  });

  it('is in docs/cli.md', () => {
    expect(page).toContain(`\`moniker ${path}`);
  });
});

describe('the completion', () => {
  const script = (shell: string): string => {
    const { stdout } = spawnSync(process.execPath, [join(root, 'src/cli/main.ts'), 'completion', shell], {
      encoding: 'utf8',
      timeout: 60_000,
    });
    return stdout;
  };

  it('knows every command and option', () => {
    const nodes = listWords(createProgram());
    expect(nodes.find(({ path }) => path === 'add')?.words.map(({ word }) => word)).toEqual([
      'server',
      'toolset',
      'agent',
      'key',
      '--help',
    ]);
    expect(nodes.find(({ path }) => path === 'add server')?.words.map(({ word }) => word)).toContain('--header');
    for (const shell of ['zsh', 'fish']) {
      expect(script(shell)).toContain('--header'.slice(shell === 'fish' ? 2 : 0));
      expect(script(shell)).toContain('toolsets');
    }
  });

  it.skipIf(spawnSync('bash', ['--version']).status !== 0)('completes the word at the cursor in bash', () => {
    const complete = (...words: string[]): string[] => {
      const array = words.map((word) => `'${word}'`).join(' ');
      const names = `moniker() { [ "$1" = completion ] && echo "$2-a openai/gpt:5"; }`;
      const program = `${script('bash')}\n${names}\nCOMP_WORDS=(${array}); COMP_CWORD=${words.length - 1}; _moniker; printf '%s\\n' "\${COMPREPLY[@]}"`;
      return spawnSync('bash', ['-c', program], { encoding: 'utf8', timeout: 60_000 }).stdout.split('\n').filter(Boolean);
    };
    expect(complete('moniker', 'do')).toEqual(['doctor']);
    expect(complete('moniker', 'add', 't')).toEqual(['toolset']);
    expect(complete('moniker', 'add', 'server', '--he')).toEqual(['--header', '--help']);
    expect(complete('moniker', 'replay', '--fail')).toEqual(['--fail-on']);
    expect(complete('moniker', 'replay', 'l')).toEqual(['list']);
    expect(complete('moniker', 'completion', 'z')).toEqual(['zsh']);
    expect(complete('moniker', 'add', 'server', 'fs', '--', 'npx', '--h')).toEqual([]);
    // Names of the service: values of options, and arguments.
    expect(complete('moniker', 'chat', '--agent', 'a')).toEqual(['agents-a']);
    expect(complete('moniker', 'chat', '--model', 'openai/gpt:')).toEqual(['openai/gpt:5']);
    expect(complete('moniker', 'call', 'shell', '--toolset', '')).toContain('toolsets-a');
    expect(complete('moniker', 'mcp', 't')).toEqual(['toolsets-a']);
    expect(complete('moniker', 'models', 'test', 'mo')).toEqual(['models-a']);
    expect(complete('moniker', 'chat', '--ag')).toEqual(['--agent']);
    expect(complete('moniker', 'add', 'toolset', 'to')).toEqual([]);
  });
});

describe('lines of a stream', () => {
  const lines = async (maxBytes: number, ...chunks: string[]): Promise<string[]> => {
    const found: string[] = [];
    for await (const line of readBoundedLines(Readable.from(chunks.map((chunk) => Buffer.from(chunk))), maxBytes)) found.push(line);
    return found;
  };

  it('are joined over chunks, and cut at the limit', async () => {
    expect(await lines(10, 'a', 'b\r\nc\n', '\nlast')).toEqual(['ab', 'c', '', 'last']);
    expect(await lines(4, '123', '456', '78\nnext\n')).toEqual(['1234', 'next']);
    expect(await lines(4)).toEqual([]);
  });

  it('keep characters that are cut between chunks', async () => {
    const bytes = Buffer.from('ä😀\n');
    const chunks = [...bytes].map((byte) => Buffer.from([byte]));
    const found: string[] = [];
    for await (const line of readBoundedLines(Readable.from(chunks), 100)) found.push(line);
    expect(found).toEqual(['ä😀']);
  });
});
