/**
 * Storage of the pure tier: one journal of rows. What was written since the last output may be lost with the process, from any point
 * between two blocks of code on; an output implies that everything before it is durable.
 */
import type { InputPart } from '../../src/core/model/message.ts';
import type { Plan } from '../../src/core/turn/plan.ts';
import type { SessionEvent } from '../../src/core/turn/session-event.ts';
import type { CallRow } from './pure-calls.ts';
import type { Alarm } from './machine.ts';
import type { Random } from './random.ts';

export type Row =
  | { type: 'accepted'; turn: string; key: string; input: InputPart[]; plan: Plan }
  | { type: 'event'; event: SessionEvent }
  /** A new process has taken over: writes of earlier ones do not count. */
  | { type: 'epoch'; epoch: number }
  | { type: 'alarm'; alarm: Alarm | null }
  | CallRow;

export class Journal {
  rows: Row[] = [];
  /** Of the newest such row. */
  epoch = 0;
  alarm: Alarm | null = null;
  #durable = 0;
  /** Lengths at the end of each block of code: a block's writes are stored together or not at all. */
  #ends: number[] = [];
  #blockOpen = false;

  write(row: Row): void {
    this.rows.push(row);
    this.#note(row);
    if (this.#blockOpen) return;
    this.#blockOpen = true;
    queueMicrotask(() => {
      this.#blockOpen = false;
      this.#ends.push(this.rows.length);
    });
  }

  /** Something is sent, so everything before it is durable. */
  flush(): void {
    this.#durable = this.rows.length;
    this.#ends = [];
  }

  /** The process is gone: the seed decides how many of its last writes are lost. */
  lose(random: Random): number {
    const ends = [this.#durable, ...this.#ends.filter((end) => end >= this.#durable && end <= this.rows.length)];
    const kept = random.pick(ends);
    const lost = this.rows.length - kept;
    this.rows.length = kept;
    this.epoch = 0;
    this.alarm = null;
    for (const row of this.rows) this.#note(row);
    this.flush();
    return lost;
  }

  #note(row: Row): void {
    if (row.type === 'epoch') this.epoch = row.epoch;
    if (row.type === 'alarm') this.alarm = row.alarm;
  }

  events(): SessionEvent[] {
    return this.rows.flatMap((row) => (row.type === 'event' ? [row.event] : []));
  }
}
