// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables of project files
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { fillProject, findProjectFile, loadProject, projectName, readProjectFile } from '../../../src/local/launch/project-file.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'moniker-test-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const write = (name: string, text: string): string => {
  writeFileSync(join(folder, name), text);
  return join(folder, name);
};

describe('the project file of a folder', () => {
  it('is moniker.yaml or moniker.json, or the one of MONIKER_PROJECT', () => {
    expect(findProjectFile(folder, {})).toBeNull();
    const yaml = write('moniker.yaml', '');
    expect(findProjectFile(folder, {})).toEqual({ file: yaml, isNamed: false });
    expect(findProjectFile(folder, { MONIKER_PROJECT: 'other.json' })).toEqual({ file: join(folder, 'other.json'), isNamed: true });
    write('moniker.json', '');
    expect(() => findProjectFile(folder, {})).toThrow('has moniker.yaml and moniker.json');
  });

  it('is named after its folder', () => {
    expect(projectName('/home/me/My Site_2/moniker.yaml')).toBe('my-site-2');
    expect(projectName('/---/moniker.yaml')).toBe('project');
    expect(projectName('/moniker.yaml')).toBe('project');
    expect(projectName(`/${'a-'.repeat(60)}/moniker.yaml`)).toMatch(/^[a-z0-9]([a-z0-9-]{0,48}[a-z0-9])?$/);
  });
});

describe('loading the project of a start', () => {
  it('reads it once, and does not prevent the start if it cannot be used', () => {
    expect(loadProject(folder, {})).toBeNull();
    const file = write('moniker.yaml', 'agents: {a: {model: "${MODEL}"}}');
    const content = { agents: { a: { model: '${MODEL}' } } };
    expect(loadProject(folder, {})).toEqual({ file, isNamed: false, content });
    write('moniker.yaml', '{');
    expect(loadProject(folder, {})).toMatchObject({ file, isNamed: false, fault: expect.stringContaining(file) });
    expect(loadProject(folder, { MONIKER_PROJECT: 'none.yaml' })).toMatchObject({
      isNamed: true,
      fault: expect.stringContaining('none.yaml'),
    });
    write('moniker.json', '{}');
    expect(loadProject(folder, {})).toMatchObject({ fault: expect.stringContaining('Remove one of them') });
  });
});

describe('reading a project file', () => {
  const read = (file: string, environment: NodeJS.ProcessEnv) => fillProject(readProjectFile(file), file, environment);

  it('fills in variables, and skills from their folders', () => {
    mkdirSync(join(folder, 'skills/hello'), { recursive: true });
    write('skills/hello/SKILL.md', 'Hi');
    write('skills/hello/data.txt', 'data');
    const file = write(
      'moniker.yaml',
      'agents: {a: {model: "${MODEL}", instructions: "${MODEL}"}}\nskills: {hello: {path: skills/hello}}\n',
    );
    expect(read(file, { MODEL: 'one/two' })).toEqual({
      agents: { a: { model: 'one/two', instructions: '${MODEL}' } },
      skills: { hello: { content: 'Hi', resources: { 'data.txt': 'data' } } },
    });
  });

  it('accepts JSON with comments and trailing commas', () => {
    expect(read(write('moniker.json', '{ // servers\n "servers": {}, }'), {})).toEqual({ servers: {} });
  });

  it.each([
    ['secrets: {A: {value: "${A}", hosts: [b]}}', 'secrets.A.value: the environment variable A is not set'],
    ['{"a": [}', 'line 1, column 8'],
    ['- a', 'needs sections such as servers'],
    ['', 'The file is empty'],
    ['skills: {a: {path: ../other}}', 'is not in the folder of the project file'],
    ['skills: {a: {path: /etc}}', 'is not in the folder of the project file'],
    ['skills: {a: {path: link}}', 'cannot be used'],
    ['skills: {a: {path: missing}}', 'cannot be used'],
  ])('refuses %s: %s', (text, message) => {
    symlinkSync(tmpdir(), join(folder, 'link'));
    expect(() => read(write('moniker.yaml', text), {})).toThrow(message);
  });

  it('names a file that cannot be read', () => {
    expect(() => readProjectFile(join(folder, 'missing.yaml'))).toThrow('cannot be read');
    expect(() => readProjectFile(folder)).toThrow('cannot be read');
  });
});
