import { beforeEach, describe, expect, it, vi } from 'vitest';
import { openDocument } from '../../src/console/api/document.ts';

type Draft = { text: string };

/** A document of the service whose next read is delayed until `release` is called. */
function openSlowDocument() {
  const service = { document: { text: 'stored' }, version: 1 };
  let release = (): void => undefined;
  const respond = () => new Response(null, { status: 200, headers: { etag: `"${service.version}"` } });
  const document = openDocument('notes demo', {
    blank: { text: '' },
    toDraft: (view: Draft) => view,
    async read() {
      await new Promise<void>((resolve) => (release = resolve));
      return { data: { ...service.document }, response: respond() };
    },
    async write(draft) {
      service.document = draft;
      service.version += 1;
      return { data: {}, response: respond() };
    },
    remove: async () => ({ data: {}, response: respond() }),
  });
  return {
    document,
    service,
    async finish(work: Promise<unknown>): Promise<void> {
      await Promise.resolve();
      release();
      await work;
    },
  };
}

describe('a document in an editor', () => {
  beforeEach(() => {
    const items = new Map<string, string>();
    vi.stubGlobal('sessionStorage', {
      getItem: (name: string) => items.get(name) ?? null,
      setItem: (name: string, value: string) => items.set(name, value),
      removeItem: (name: string) => items.delete(name),
    });
    return () => vi.unstubAllGlobals();
  });

  it('keeps what is typed while the stored version is read again', async () => {
    const { document, finish } = openSlowDocument();
    await finish(document.load());
    document.edit({ text: 'first attempt' });
    const discarded = document.discard();
    expect(document.draft.value).toEqual({ text: 'stored' });
    document.edit({ text: 'second attempt' });
    await finish(discarded);
    expect(document.draft.value).toEqual({ text: 'second attempt' });
    expect(document.etag.value).toBe('"1"');
  });

  it('shows what another client stored meanwhile after the draft is discarded', async () => {
    const { document, service, finish } = openSlowDocument();
    await finish(document.load());
    document.edit({ text: 'mine' });
    service.document = { text: 'theirs' };
    await finish(document.discard());
    expect(document.draft.value).toEqual({ text: 'theirs' });
  });

  it('keeps what is typed while a saved draft is read back', async () => {
    const { document, service, finish } = openSlowDocument();
    await finish(document.load());
    document.edit({ text: 'saved' });
    const saved = document.save();
    await vi.waitUntil(() => service.version === 2);
    await Promise.resolve();
    document.edit({ text: 'typed after that' });
    await finish(saved);
    expect([service.document.text, document.draft.value?.text]).toEqual(['saved', 'typed after that']);
  });
});
