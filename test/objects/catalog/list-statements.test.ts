/** Lists of the Catalog run as many SQL statements for many items as for one. */
import { describe, expect, it } from 'vitest';
import { listRows, storeRow } from '../../../src/objects/catalog/documents/documents.ts';
import { showDocuments } from '../../../src/objects/catalog/documents/write-document.ts';
import { listServers } from '../../../src/objects/catalog/servers/servers.ts';
import { writeServerState } from '../../../src/objects/catalog/servers/server-state.ts';
import { listCallbacks } from '../../../src/objects/catalog/triggers/callbacks/callbacks.ts';
import { insertCallback, noteAttempt } from '../../../src/objects/catalog/triggers/callbacks/callback-rows.ts';
import { acceptDelivery } from '../../../src/objects/catalog/triggers/deliveries/deliveries.ts';
import { scheduleWriter } from '../../../src/objects/catalog/triggers/schedules/schedule-writer.ts';
import { initialState } from '../../../src/core/servers/refresh-state.ts';
import { openCallbacks } from './triggers/callbacks/callbacks-of.ts';

/** Fills a workspace with `fill(0…9)`, and counts the statements of the list of the first, and of all. */
function countStatements<Item>(
  fill: (room: ReturnType<typeof openCallbacks>, index: number) => void,
  list: (room: ReturnType<typeof openCallbacks>, limit: number) => readonly Item[],
) {
  const room = openCallbacks();
  for (let index = 0; index < 10; index += 1) fill(room, index);
  const { sql } = room.context;
  const count = (limit: number) => {
    let statements = 0;
    const exec = sql.exec.bind(sql);
    sql.exec = ((...args: Parameters<typeof exec>) => {
      statements += 1;
      return exec(...args);
    }) as typeof sql.exec;
    const items = list(room, limit);
    sql.exec = exec;
    return { statements, items };
  };
  return { one: count(1), all: count(10) };
}

const document = { version: 1, deleted: false, sealed: null, createdAt: 0, updatedAt: 0 };

describe('the statements of a list do not grow with its items', () => {
  it('stay the same for more servers with tools and health', () => {
    const { one, all } = countStatements(
      ({ context: { sql } }, index) => {
        const name = `s${index}`;
        storeRow(sql, { ...document, kind: 'server', name, body: { name, kind: 'mcp', url: 'https://mcp.example.com/' } });
        writeServerState(sql, name, initialState(1, 0));
        sql.exec("INSERT INTO server_tools (server, name, listed_pin, updated_at) VALUES (?, 'get', 'pin', 0)", name);
      },
      ({ context }, limit) => listServers(context, { limit }).items,
    );
    expect(all.items).toHaveLength(10);
    for (const { body } of all.items) expect(body).toMatchObject({ toolCount: 1, held: 0, health: expect.anything() });
    expect(all.statements).toBe(one.statements);
  });

  it('stay the same for more schedules with a next and a last run', () => {
    const { one, all } = countStatements(
      ({ context }, index) => {
        const name = `s${index}`;
        storeRow(context.sql, { ...document, kind: 'schedule', name, body: { name } });
        context.sql.exec('INSERT INTO schedule_state (schedule, due_at) VALUES (?, ?)', name, index);
        for (const [id, become] of [
          ['failed', 'failed'],
          ['skipped', 'skipped'],
        ] as const)
          acceptDelivery(context, {
            ...{ trigger: { kind: 'schedule', name }, id, event: null, payload: null },
            verdict: { become, reason: 'a reason', warnings: [] },
          });
      },
      ({ context }, limit) => showDocuments(context, scheduleWriter, listRows(context.sql, 'schedule', { limit }).items),
    );
    expect(all.items).toHaveLength(10);
    for (const [index, { body }] of all.items.entries())
      expect(body).toMatchObject({ nextRunAt: new Date(index).toISOString(), lastRun: { id: 'failed' } });
    expect(all.statements).toBe(one.statements);
  });

  it('stay the same for more callbacks with attempts', () => {
    const { one, all } = countStatements(
      ({ context: { sql } }, index) => {
        const target = { kind: 'subscription', name: `s${index}` } as const;
        const subject = { type: 'turn.completed' as const, session: 's', turn: 't', delivery: null, source: `${index}` };
        const number = insertCallback(sql, { target, subject, body: '{}', bytes: 2, now: 0 });
        for (let attempt = 1; attempt <= 60; attempt += 1)
          noteAttempt(sql, number ?? 0, { attempt, at: attempt, status: 500, durationMs: 1, error: null });
      },
      ({ context }, limit) => listCallbacks(context, { limit }).items,
    );
    expect(all.items).toHaveLength(10);
    // The newest 50, oldest first.
    for (const { attempts } of all.items) {
      expect(attempts).toHaveLength(50);
      expect([attempts[0]?.at, attempts[49]?.at]).toEqual([new Date(11).toISOString(), new Date(60).toISOString()]);
    }
    expect(all.statements).toBe(one.statements);
  });
});
