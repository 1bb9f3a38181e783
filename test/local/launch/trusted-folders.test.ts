import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  acceptedEffects,
  acceptEffects,
  effectHash,
  isTrustedDataFolder,
  trustDataFolder,
} from '../../../src/local/launch/trusted-folders.ts';

let folder = '';
let environment: NodeJS.ProcessEnv = {};
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'moniker-test-')));
  environment = { XDG_STATE_HOME: join(folder, 'state') };
  mkdirSync(join(folder, 'project'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const stored = () => join(folder, 'state/moniker/folders');
const makeData = (path: string, rootKey = 'r'.repeat(40)): string => {
  mkdirSync(path, { recursive: true });
  writeFileSync(join(path, 'keys'), `MONIKER_ROOT_KEY=${rootKey}\n`, { mode: 0o600 });
  return path;
};

describe('decisions about the project file of a folder', () => {
  it('are remembered for its real path, outside of it, and add up', () => {
    const project = join(folder, 'project');
    expect(acceptedEffects(project, environment)).toBeNull();
    acceptEffects(project, [], environment);
    expect(acceptedEffects(project, environment)).toEqual(new Set());
    symlinkSync(project, join(folder, 'link'));
    acceptEffects(join(folder, 'link'), [effectHash('a')], environment);
    acceptEffects(project, [effectHash('b')], environment);
    expect(acceptedEffects(project, environment)).toEqual(new Set([effectHash('a'), effectHash('b')]));
    expect(readdirSync(project)).toEqual([]);
    expect(acceptedEffects(folder, environment)).toBeNull();
  });

  it('do not hold for another folder, or a folder that was moved away', () => {
    const project = join(folder, 'project');
    acceptEffects(project, [effectHash('a')], environment);
    renameSync(project, join(folder, 'moved'));
    expect(acceptedEffects(join(folder, 'moved'), environment)).toBeNull();
  });

  it.skipIf(process.platform === 'win32')('do not count if another user could have written them, or if they are damaged', () => {
    const project = join(folder, 'project');
    acceptEffects(project, [effectHash('a')], environment);
    const [name = ''] = readdirSync(stored());
    const file = join(stored(), name);
    const text = readFileSync(file, 'utf8');
    chmodSync(file, 0o666);
    expect(acceptedEffects(project, environment)).toBeNull();
    chmodSync(file, 0o600);
    expect(acceptedEffects(project, environment)).not.toBeNull();
    chmodSync(stored(), 0o777);
    expect(acceptedEffects(project, environment)).toBeNull();
    chmodSync(stored(), 0o700);
    for (const damaged of ['', '{', '[]', text.replace(project, '/other'), text.replace('"project"', '"other"')]) {
      writeFileSync(file, damaged);
      expect(acceptedEffects(project, environment)).toBeNull();
    }
    writeFileSync(join(folder, 'elsewhere'), text, { mode: 0o600 });
    rmSync(file);
    symlinkSync(join(folder, 'elsewhere'), file);
    expect(acceptedEffects(project, environment)).toBeNull();
  });

  it('are not stored in the current folder by a relative XDG_STATE_HOME', () => {
    const home = { ...environment, XDG_STATE_HOME: 'state' };
    expect(acceptedEffects(join(folder, 'project'), home)).toBeNull();
  });

  it('are kept for the newest thousand folders', () => {
    const project = join(folder, 'project');
    mkdirSync(stored(), { recursive: true, mode: 0o700 });
    for (let index = 0; index < 1_000; index += 1) {
      writeFileSync(join(stored(), `${index}.json`), '{}');
      utimesSync(join(stored(), `${index}.json`), index + 1, index + 1);
    }
    acceptEffects(project, [], environment);
    const names = readdirSync(stored());
    expect([names.length, names.includes('0.json'), names.includes('1.json')]).toEqual([1_000, false, true]);
    expect(acceptedEffects(project, environment)).not.toBeNull();
  });
});

describe('a data folder', () => {
  const found = (path: string) => ({ path, isFound: true });

  it('is trusted if it was named, or after a start in it', () => {
    const data = makeData(join(folder, 'project/.moniker'));
    expect(isTrustedDataFolder({ path: data, isFound: false }, environment)).toBe(true);
    expect(isTrustedDataFolder(found(data), environment)).toBe(false);
    trustDataFolder(data, environment);
    expect(isTrustedDataFolder(found(data), environment)).toBe(true);
    symlinkSync(join(folder, 'project'), join(folder, 'link'));
    expect(isTrustedDataFolder(found(join(folder, 'link/.moniker')), environment)).toBe(true);
  });

  it('is not trusted if another one took its place, or has lost its keys', () => {
    const data = makeData(join(folder, 'project/.moniker'));
    trustDataFolder(data, environment);
    makeData(data, 's'.repeat(40));
    expect(isTrustedDataFolder(found(data), environment)).toBe(false);
    rmSync(join(data, 'keys'));
    expect(isTrustedDataFolder(found(data), environment)).toBe(false);
  });

  it('is not trusted because it is a link to a trusted one, or a copy of it', () => {
    const data = makeData(join(folder, 'project/.moniker'));
    trustDataFolder(data, environment);
    mkdirSync(join(folder, 'hostile'));
    symlinkSync(data, join(folder, 'hostile/.moniker'));
    expect(isTrustedDataFolder(found(join(folder, 'hostile/.moniker')), environment)).toBe(false);
    expect(isTrustedDataFolder(found(makeData(join(folder, 'copy/.moniker'))), environment)).toBe(false);
  });
});
