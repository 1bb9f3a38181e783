import { describe, expect, it } from 'vitest';
import { readSettings } from '../../../src/core/people/settings.ts';
import { readEnvironment, workerVariables } from '../../../src/local/launch/environment.ts';
import { builtinProvider } from '../../../src/storage/providers.ts';

const keys = { rootKey: 'root', masterKey: 'master' };

describe("the Worker's variables on this machine", () => {
  it('are the unchanged settings, the keys, and the local URL as public URL unless one is set', () => {
    const local = readEnvironment({ MONIKER_ALIASES: 'off', OPENAI_API_KEY: 'sk', MONIKER_DATA_DIR: 'here', HOME: '/root' });
    expect(workerVariables(local, keys, 'http://127.0.0.1:8787', null)).toEqual({
      MONIKER_ALIASES: 'off',
      OPENAI_API_KEY: 'sk',
      MONIKER_PUBLIC_URL: 'http://127.0.0.1:8787',
      MONIKER_LOCAL_URL: 'http://127.0.0.1:8787',
      MONIKER_ROOT_KEY: 'root',
      MONIKER_MASTER_KEY: 'master',
      MONIKER_CLOSE_AFTER_DELETE: 'on',
    });
    const outside = readEnvironment({ MONIKER_PUBLIC_URL: 'https://tools.example' });
    expect(workerVariables(outside, keys, 'http://127.0.0.1:8787', null).MONIKER_PUBLIC_URL).toBe('https://tools.example');
  });

  it('let only providers reach a detected Ollama, in addition to the operator’s settings', () => {
    const local = readEnvironment({ MONIKER_ALLOW_PRIVATE_HOSTS: 'servers:10.0.0.1:80' });
    const variables = workerVariables(local, keys, 'http://127.0.0.1:8787', '127.0.0.1:11434');
    expect(builtinProvider(readSettings(variables), 'ollama')?.baseUrl).toBe('http://127.0.0.1:11434/v1');
    expect(variables).toMatchObject({
      MONIKER_OLLAMA_URL: 'http://127.0.0.1:11434',
      MONIKER_ALLOW_PRIVATE_HOSTS: 'servers:10.0.0.1:80,providers:127.0.0.1:11434',
    });
  });

  it('report unknown names, and name an invalid port or address', () => {
    expect(readEnvironment({ MONIKER_ALIASSES: 'off' }).unknown).toEqual(['MONIKER_ALIASSES']);
    expect(readEnvironment({ MONIKER_LOG: 'debug' }).unknown).toEqual([]);
    expect(readEnvironment({ PORT: '0' }).port).toBe(0);
    expect(readEnvironment({}).host).toBe('127.0.0.1');
    expect(readEnvironment({ MONIKER_HOST: ' :: ' }).host).toBe('::');
    expect(readEnvironment({ MONIKER_HOST: 'localhost' }).host).toBe('127.0.0.1');
    expect(readEnvironment({ MONIKER_HOST: 'moniker.example', PORT: '80a' }).faults).toHaveLength(2);
  });
});
