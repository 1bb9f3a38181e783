import { runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { describe, expect, it } from 'vitest';
import { limits } from '../../../src/core/limits/limits.ts';
import { createEventStore, maxMcpSessionEvents, type McpSessionEvents, streamStart } from '../../../src/objects/mcp-session/event-store.ts';
import { migrate } from '../../../src/objects/shared/migrate.ts';
import { mcpSessionMigrations } from '../../../src/objects/mcp-session/schema.ts';
import type { Bindings } from '../../../src/storage/bindings.ts';

// The generated Env and our structural type name the same bindings.
const { MCP_SESSION } = env as unknown as Bindings;

async function withStore(work: (store: McpSessionEvents, sql: SqlStorage) => Promise<void>): Promise<void> {
  const stub = MCP_SESSION.get(MCP_SESSION.newUniqueId());
  await runInDurableObject(stub, async (_instance, { storage }) => {
    migrate(storage, mcpSessionMigrations);
    await work(createEventStore(storage.sql), storage.sql);
  });
}

const answer = (text: string): string => JSON.stringify({ jsonrpc: '2.0', id: 7, result: { content: [{ type: 'text', text }] } });

const replayed = (store: McpSessionEvents, after: string): string[] => [...store.after(after)].map(({ message }) => message);

describe('the stored messages of a session', () => {
  it.each([0, 1])('are unchanged where a surrogate pair is at the end of a row (shifted by %i)', async (shift) => {
    await withStore(async (store) => {
      const first = store.store('a', streamStart);
      const message = answer('-'.repeat(shift) + '🙂'.repeat(limits.maxRowCharacters));
      store.store('a', message);
      expect(replayed(store, first)).toEqual([message]);
    });
  });

  it('include results of the largest size, in order with others', async () => {
    await withStore(async (store) => {
      const first = store.store('a', streamStart);
      const large = answer('x'.repeat(limits.maxWholeResultBytes));
      store.store('a', large);
      store.store('b', answer('other stream'));
      store.store('a', answer('after it'));
      expect(replayed(store, first)).toEqual([large, answer('after it')]);
    });
  });

  it('have an error in place of a response that is too long', async () => {
    await withStore(async (store) => {
      const first = store.store('a', streamStart);
      store.store('a', answer('x'.repeat(2 * limits.maxWholeResultBytes)));
      expect(replayed(store, first).map((message) => JSON.parse(message))).toMatchObject([
        { jsonrpc: '2.0', id: 7, error: { code: -32000, message: expect.stringContaining('was lost') } },
      ]);
    });
  });

  it('are the same for a response that is all of its stream', async () => {
    await withStore(async (store) => {
      for (const message of [answer('short 🙂'), answer('x'.repeat(2 * limits.maxRowCharacters))]) {
        const { start, id } = store.storeWhole('whole', message);
        expect([Number(id) - Number(start), store.streamOf(start), replayed(store, start)]).toEqual([1, 'whole', [message]]);
        expect(replayed(store, id)).toEqual([]);
        store.store('other', streamStart);
        // Streams of one response have names of their own.
        expect(replayed(store, start)).toEqual([message]);
        store.store('whole', answer('later'));
        expect(replayed(store, id)).toEqual([answer('later')]);
        for (let count = 0; count < maxMcpSessionEvents; count += 1) store.store('other', streamStart);
      }
    });
  });

  it('are at most a thousand, and at least the newest nine hundred', async () => {
    await withStore(async (store, sql) => {
      for (let count = 1; count <= 2_250; count += 1) {
        if (count % 2 === 0) store.store('a', answer(String(count)));
        else store.storeWhole('b', answer(String(count)));
        const { stored } = sql.exec<{ stored: number }>('SELECT count(*) AS stored FROM events').one();
        expect(stored).toBeLessThanOrEqual(maxMcpSessionEvents);
        if (count > maxMcpSessionEvents) expect(stored).toBeGreaterThanOrEqual(maxMcpSessionEvents - 101);
      }
    });
  });

  it('are limited in total, the oldest first', async () => {
    await withStore(async (store, sql) => {
      const first = store.store('a', streamStart);
      for (let count = 0; count < 3; count += 1) store.store('a', answer('x'.repeat(limits.maxWholeResultBytes)));
      expect(store.streamOf(first)).toBeNull();
      const { total } = sql.exec<{ total: number }>('SELECT sum(length(message)) AS total FROM events').one();
      expect(total).toBeLessThanOrEqual(2.5 * limits.maxWholeResultBytes);
    });
  });

  it('are all there as long as they fit, whatever their characters', async () => {
    await withStore(async (store) => {
      const emoji = answer('🙂'.repeat(3 * 1_024 * 1_024));
      for (let count = 0; count < 16; count += 1) store.store('a', emoji);
      const first = store.store('b', streamStart);
      for (let count = 0; count < 5; count += 1) store.store('b', answer(`number ${count}`));
      expect(replayed(store, first)).toHaveLength(5);
      expect(store.streamOf('12')).toBe('a');
    });
  });
});
