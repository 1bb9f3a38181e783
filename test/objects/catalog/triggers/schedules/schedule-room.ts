/** Schedules of one workspace over its tables, with a manual clock. There are no sessions: tests set the end of runs. */
import type { CatalogContext } from '../../../../../src/objects/catalog/context.ts';
import { setDeliveryStatus } from '../../../../../src/objects/catalog/triggers/deliveries/run-queue.ts';
import { requireDelivery } from '../../../../../src/objects/catalog/triggers/deliveries/delivery-rows.ts';
import { createTransactions } from '../../../../../src/objects/catalog/records/transactions.ts';
import { createScheduler, type ScheduleDeps, type Scheduler } from '../../../../../src/objects/catalog/triggers/schedules/schedule-runs.ts';
import { scheduleWriter } from '../../../../../src/objects/catalog/triggers/schedules/schedule-writer.ts';
import { putDocument, removeDocument } from '../../../../../src/objects/catalog/documents/write-document.ts';
import { readSettings } from '../../../../../src/core/people/settings.ts';
import type { DeliveryStatus } from '../../../../../src/core/triggers/delivery.ts';
import type { PutAnswer, WriteOptions } from '../../../../../src/ports/catalog.ts';
import { createMasterKey } from '../../../../../src/storage/keys/master-key.ts';
import { catalogMigrations } from '../../../../../src/objects/catalog/schema.ts';
import { fakeSql, fakeTransactions } from '../../../../fakes/sql-storage.ts';

export type ScheduleRoom = {
  context: CatalogContext;
  scheduler: Scheduler;
  /** Milliseconds since the epoch. */
  now: number;
  at(time: string): void;
  put(name: string, body: Record<string, unknown>, options?: WriteOptions): Promise<PutAnswer>;
  remove(name: string): Promise<void>;
  /** Time of the next alarm. */
  due(): string | null;
  /** Fires the alarm at that time, without earlier alarms. */
  ring(time: string): Promise<void>;
  /** Fires the alarm whenever it is due until that time; every run ends at once. */
  runUntil(time: string): Promise<void>;
  runs(name: string): {
    id: string;
    status: DeliveryStatus;
    reason: string | null;
    received: string;
    session_key: string | null;
    held: number;
    due_at: number | null;
  }[];
  move(name: string, id: string, status: DeliveryStatus): void;
  errors: string[];
};

export function scheduleRoom(start: string, deps: Partial<ScheduleDeps> = {}): ScheduleRoom {
  const sql = fakeSql(catalogMigrations);
  const errors: string[] = [];
  const settings = readSettings({});
  const context: CatalogContext = {
    workspace: 'default',
    sql,
    ...createTransactions(fakeTransactions(sql), () => context),
    now: () => room.now,
    master: createMasterKey('a master key of thirty-two bytes or more'),
    settings,
    definitions: () => [],
    log: {
      error: (message, fields) => void errors.push(`${message} ${JSON.stringify(fields)}`),
      info: () => undefined,
      debug: () => undefined,
    },
  };
  let turns = 0;
  const scheduler = createScheduler(context, {
    sessionId: async (schedule, agent, key) => `session of ${schedule}, ${agent}, ${key}`,
    newTurn: () => {
      turns += 1;
      return `turn_${turns}`;
    },
    kick: () => undefined,
    wake: async () => undefined,
    ...deps,
  });
  const trigger = (name: string) => ({ kind: 'schedule', name }) as const;

  const room: ScheduleRoom = {
    context,
    scheduler,
    errors,
    now: Date.parse(start),
    at: (time) => {
      room.now = Date.parse(time);
    },
    put: (name, body, options = {}) =>
      putDocument(context, scheduleWriter, { kind: 'schedule', name, body: { agent: 'demo', input: 'go', ...body }, options, by: 'root' }),
    remove: async (name) => void (await removeDocument(context, scheduleWriter, { kind: 'schedule', name, options: {}, by: 'root' })),
    due: () => {
      const due = scheduler.nextDue();
      return due === null ? null : new Date(due).toISOString();
    },
    ring: async (time) => {
      room.at(time);
      await scheduler.runDue();
    },
    runUntil: async (time) => {
      for (let due = scheduler.nextDue(); due !== null && due <= Date.parse(time); due = scheduler.nextDue()) {
        room.now = due;
        await scheduler.runDue();
        const open = sql.exec<{ name: string; id: string }>("SELECT name, id FROM deliveries WHERE status = 'pending'").toArray();
        for (const { name, id } of open) room.move(name, id, 'completed');
      }
      room.at(time);
    },
    runs: (name) =>
      sql
        .exec<ReturnType<ScheduleRoom['runs']>[number] & { received_at: number }>(
          "SELECT id, status, reason, received_at, session_key, held, due_at FROM deliveries WHERE kind = 'schedule' AND name = ? ORDER BY number",
          name,
        )
        .toArray()
        .map(({ received_at: received, ...row }) => ({ ...row, received: new Date(received).toISOString() })),
    move: (name, id, status) => context.record(() => setDeliveryStatus(context, requireDelivery(sql, trigger(name), id), status, null)),
  };
  return room;
}
