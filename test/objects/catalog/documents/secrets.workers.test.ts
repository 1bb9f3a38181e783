import { runInDurableObject } from 'cloudflare:test';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { createMasterKey } from '../../../../src/storage/keys/master-key.ts';
import { kvKeys } from '../../../../src/storage/keys.ts';
import { openValue } from '../../../../src/storage/keys/secret-box.ts';
import { shell } from '../../../contracts/catalog/workspace.ts';
import { emptyWorkspace, testEnv } from '../../../storage/workspace.ts';

type Canary = { id: string; prefix: string; fill: string; length: number };

declare global {
  interface ImportMeta {
    /** Vite's glob import: the matching modules, or none. */
    glob<Module>(pattern: string, options: { eager: true }): Record<string, Module>;
  }
}

// The recorded corpus is next to the checkout; without it, the two rows of this file are used.
const corpus = import.meta.glob<{ default: { secrets: Canary[] } }>('../../../../shared/fixtures/security/secret-canaries.json', {
  eager: true,
});
const canaries: Canary[] = Object.values(corpus)[0]?.default.secrets ?? [
  { id: 'openai-style', prefix: 'sk-', fill: 'A', length: 48 },
  { id: 'bearer-hex', prefix: '', fill: 'a', length: 64 },
];

afterEach(() => vi.restoreAllMocks());

describe('a secret', () => {
  it('that is too short to be redacted is stored with a warning', async () => {
    const { catalog } = await emptyWorkspace();
    const put = (value: string) => catalog.put('secret', 'PIN', { value, hosts: ['api.example.com'] });
    expect((await put('123')).warnings).toEqual([{ path: 'value', message: expect.stringContaining('shorter than 4') }]);
    expect((await put('1234')).warnings).toEqual([]);
  });
});

describe('planted secrets', () => {
  it.each(canaries)('$id: is in no table, KV value, response, message or log line', async ({ prefix, fill, length }) => {
    const value = prefix.startsWith('<') ? `mk_${fill.repeat(length)}` : prefix + fill.repeat(Math.max(1, length - prefix.length));
    const apiKey = value.replaceAll(/[^\x21-\x7e]/g, '');
    const seen: unknown[] = [];
    for (const method of ['log', 'info', 'warn', 'error', 'debug'] as const)
      vi.spyOn(console, method).mockImplementation((...line) => void seen.push(line));
    const { workspace, catalog, directory, isolate, object, log } = await emptyWorkspace();
    const note = async (work: Promise<unknown>): Promise<void> => {
      seen.push(
        await work.catch((error: Error & { toBody?: () => unknown }) => [error.message, error.stack, error.cause, error.toBody?.()]),
      );
    };

    await note(catalog.put('secret', 'CANARY', { value, hosts: ['api.example.com'] }));
    await note(catalog.put('secret', 'CANARY', { value, hosts: ['API.example.com'], [apiKey.slice(0, 3)]: 1 }));
    await note(catalog.put('secret', 'CANARY', { value: { nested: 1 }, hosts: ['api.example.com'] }));
    await note(
      catalog.put('provider', 'canary', {
        kind: 'openai-compatible',
        baseUrl: 'https://api.example.com/v1',
        apiKey,
        headers: { 'x-token': { secret: 'CANARY' } },
      }),
    );
    await note(catalog.put('provider', 'canary', { kind: 'openai-compatible', baseUrl: 'https://moved.example.com/v1' }));
    await note(catalog.put('agent', 'helper', { model: 'canary/x' }));
    await note(catalog.put('toolset', 'support', shell('run')));
    for (const kind of ['secret', 'provider'] as const) {
      await note(catalog.list(kind, { limit: 10 }));
      await note(catalog.get(kind, kind === 'secret' ? 'CANARY' : 'canary'));
    }
    await note(directory.providers(workspace));
    await note(directory.secret(workspace, 'CANARY', { host: 'evil.example.net' }));
    await note(directory.secret(workspace, 'CANARY', {}));
    expect(await isolate().secret(workspace, 'CANARY', { host: 'api.example.com' })).toBe(value);

    const tables = await runInDurableObject(object, (_instance, { storage }) => {
      const names = storage.sql
        .exec<{ name: string }>("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE '\\_cf%' ESCAPE '\\'")
        .toArray();
      // Table names come from the schema.
      return names.map(({ name }) =>
        storage.sql
          .exec(`SELECT * FROM "${name}"`)
          .toArray()
          .map((row) => Object.values(row).map(readable)),
      );
    });
    const { keys } = await testEnv.KV.list();
    const values = await Promise.all(keys.map(({ name }) => testEnv.KV.get(name)));
    const everything = JSON.stringify([tables, keys, values, seen, log.lines]);
    for (const spelling of [...spellings(value), ...spellings(apiKey)]) expect(everything).not.toContain(spelling);
  });
});

describe('a sealed value', () => {
  it('cannot be opened with another name, kind, workspace or master key', async () => {
    const { workspace, catalog, settings, object } = await emptyWorkspace();
    await catalog.put('secret', 'ONE', { value: 'the-token', hosts: ['api.example.com'] });
    const sealed = await runInDurableObject(object, (_instance, { storage }) =>
      String(storage.sql.exec("SELECT sealed FROM documents WHERE kind = 'secret'").one().sealed),
    );
    const master = createMasterKey(settings.masterKey);
    const place = { workspace, kind: 'secret', name: 'ONE' } as const;
    expect(await openValue(master, place, sealed)).toBe('the-token');
    for (const other of [
      { ...place, name: 'TWO' },
      { ...place, kind: 'provider' as const },
      { ...place, workspace: 'default' },
    ]) {
      await expect(openValue(master, other, sealed)).rejects.toMatchObject({ code: 'internal' });
    }
    await expect(openValue(createMasterKey('another'), place, sealed)).rejects.toMatchObject({ code: 'not_configured' });
  });

  it('swapped with that of another secret is rejected when it is read', async () => {
    const { workspace, catalog, directory, isolate, object } = await emptyWorkspace();
    await catalog.put('secret', 'ONE', { value: 'one', hosts: ['one.example.com'] });
    await catalog.put('secret', 'TWO', { value: 'two', hosts: ['two.example.com'] });
    await runInDurableObject(object, (_instance, { storage }) => {
      storage.sql.exec("UPDATE documents SET sealed = (SELECT sealed FROM documents WHERE name = 'ONE') WHERE name = 'TWO'");
    });
    await expect(directory.secret(workspace, 'TWO', { host: 'two.example.com' })).rejects.toMatchObject({ code: 'internal' });
    const inKv = async (name: string) => JSON.parse((await testEnv.KV.get(kvKeys.published('secret', workspace, name))) ?? '');
    const [one, two] = [await inKv('ONE'), await inKv('TWO')];
    const swapped = { ...two, secret: { ...two.secret, sealed: one.secret.sealed } };
    await testEnv.KV.put(kvKeys.published('secret', workspace, 'TWO'), JSON.stringify(swapped));
    await expect(isolate().secret(workspace, 'TWO', { host: 'two.example.com' })).rejects.toMatchObject({ code: 'internal' });
  });
});

/** Converts bytes to text, so that a search finds them. */
function readable(value: unknown): unknown {
  return value instanceof ArrayBuffer ? new TextDecoder().decode(value) : value;
}

function spellings(value: string): string[] {
  const base64 = btoa(value);
  const hex = Array.from(new TextEncoder().encode(value), (byte) => byte.toString(16).padStart(2, '0')).join('');
  const spelled = [
    value,
    JSON.stringify(value).slice(1, -1),
    base64.replace(/=+$/, '').slice(0, -1),
    base64.replaceAll('+', '-').replaceAll('/', '_').slice(0, -3),
    hex,
  ];
  return [...new Set([...spelled, encodeURIComponent(value), [...value].reverse().join('')])].filter((text) => text.length > 8);
}
