/**
 * A Durable Object's storage that can lose its last writes: SQLite in memory, with a savepoint for every block of code that wrote. A
 * block is stored whole or not at all; an output makes everything before it durable. One database serves many runs.
 */
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
import type { Alarm } from './machine.ts';
import type { Random } from './random.ts';
import type { Life } from './world.ts';

const statements = new WeakMap<DatabaseSync, Map<string, StatementSync>>();

export function openDatabase(): DatabaseSync {
  const database = new DatabaseSync(':memory:');
  // The alarm is part of the storage: it is lost or kept with the writes around it.
  database.exec('CREATE TABLE sim_alarm (due INTEGER)');
  database.exec('INSERT INTO sim_alarm VALUES (NULL)');
  statements.set(database, new Map());
  return database;
}

export class SqlDisk {
  readonly #database: DatabaseSync;
  readonly #note: (query: string, bindings: readonly SQLInputValue[]) => void;
  /** Savepoints since the last output. */
  #blocks = 0;
  #blockOpen = false;
  #alarm: Alarm | null = null;
  /** Changes with every write. */
  version = 0;
  /** Blocks written in this run. */
  #written = 0;
  /** First and last number of blocks that were lost together. */
  #lost: [number, number][] = [];

  /** `close` rolls back to here. */
  constructor(database: DatabaseSync, note: (query: string, bindings: readonly SQLInputValue[]) => void) {
    this.#database = database;
    this.#note = note;
    this.#run('SAVEPOINT simulated_run');
  }

  close(): void {
    this.#run('ROLLBACK TO simulated_run');
    this.#run('RELEASE simulated_run');
  }

  flush(): void {
    if (this.#blocks > 0) this.#run('RELEASE block_0');
    this.#blocks = 0;
    this.#blockOpen = false;
  }

  /** Returns how many blocks are lost. An unfinished block is always lost. */
  lose(random: Random): number {
    const whole = this.#blockOpen ? this.#blocks - 1 : this.#blocks;
    const kept = random.int(0, Math.max(0, whole));
    const lost = this.#blocks - kept;
    if (lost > 0) {
      this.#run(`ROLLBACK TO block_${kept}`);
      this.#lost.push([this.#written - lost + 1, this.#written]);
    }
    this.flush();
    this.version += 1;
    this.#alarm = this.#readAlarm();
    return lost;
  }

  /** How much was written. A request that is sent now leaves only when all of it is stored. */
  position(): number {
    return this.#written;
  }

  /** Something that was written before this position is lost, by the same process. */
  wasLostBefore(position: number): boolean {
    return this.#lost.some(([first, last]) => position >= first && position <= last);
  }

  get alarm(): Alarm | null {
    return this.#alarm;
  }

  setAlarm(due: number | null): void {
    this.#write();
    this.#statement('UPDATE sim_alarm SET due = ?').run(due);
    this.#alarm = due === null ? null : { due };
  }

  all(query: string, ...bindings: SQLInputValue[]): unknown[] {
    if (/^\s*select\b/i.test(query)) return this.#statement(query).all(...bindings);
    this.#write();
    this.#note(query, bindings);
    if (bindings.length > 0) return this.#statement(query).all(...bindings);
    this.#database.exec(query);
    return [];
  }

  transaction<T>(work: () => T): T {
    this.#write();
    this.#run('SAVEPOINT inner_transaction');
    try {
      const result = work();
      this.#run('RELEASE inner_transaction');
      return result;
    } catch (error) {
      this.#run('ROLLBACK TO inner_transaction');
      this.#run('RELEASE inner_transaction');
      throw error;
    }
  }

  deleteAll(): void {
    this.#write();
    const tables = this.all(`SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND name <> 'sim_alarm'`);
    // The query names the columns.
    for (const { name } of tables as { name: string }[]) this.#database.exec(`DROP TABLE "${name}"`);
  }

  isEmpty(): boolean {
    return this.all(`SELECT name FROM sqlite_master WHERE type = 'table' AND name = 'meta'`).length === 0;
  }

  #write(): void {
    this.version += 1;
    if (this.#blockOpen) return;
    this.#blockOpen = true;
    this.#run(`SAVEPOINT block_${this.#blocks}`);
    this.#blocks += 1;
    this.#written += 1;
    queueMicrotask(() => {
      this.#blockOpen = false;
    });
  }

  #readAlarm(): Alarm | null {
    const [row] = this.all('SELECT due FROM sim_alarm');
    // The query names the column.
    const { due } = row as { due: number | null };
    return due === null ? null : { due };
  }

  #run(command: string): void {
    this.#statement(command).run();
  }

  #statement(query: string): StatementSync {
    const known = statements.get(this.#database);
    if (known === undefined) throw new Error('the database was not opened here');
    const statement = known.get(query) ?? this.#database.prepare(query);
    known.set(query, statement);
    return statement;
  }
}

/** The storage as one process has it: closed with the process, as the platform does with a replaced object. */
export function storageOf(disk: SqlDisk, life: Life): DurableObjectStorage {
  const check = (): void => {
    if (life.state !== 'alive') throw new Error('this process has no storage any more');
  };
  const exec = (query: string, ...bindings: SQLInputValue[]) => {
    check();
    const rows = disk.all(query, ...bindings);
    return {
      toArray: () => rows,
      one: () => {
        if (rows.length !== 1) throw new Error(`expected one row, got ${rows.length}`);
        return rows[0];
      },
      [Symbol.iterator]: () => rows[Symbol.iterator](),
    };
  };
  const storage = {
    sql: { exec },
    transactionSync: <T>(work: () => T): T => {
      check();
      return disk.transaction(work);
    },
    async setAlarm(due: number) {
      check();
      disk.setAlarm(due);
    },
    async deleteAlarm() {
      check();
      disk.setAlarm(null);
    },
    async getAlarm() {
      check();
      return disk.alarm?.due ?? null;
    },
    async deleteAll() {
      check();
      disk.deleteAll();
    },
  };
  // The part of the API that the session uses.
  return storage as unknown as DurableObjectStorage;
}
