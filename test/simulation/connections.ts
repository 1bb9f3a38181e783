/**
 * The connections of the clients of a simulated run: a request with its response, or a stream, which end with the process that serves
 * them. The clients decide what to send and what to do with responses.
 */
import { Problem, type ProblemCode } from '../../src/core/problem.ts';
import type { Machine, Process, WholeProcess } from './machine.ts';
import { CatalogAway } from './upstream.ts';
import type { Life, World } from './world.ts';

/** The problems that a session may return: the client came too late, or asked for something that does not exist. */
const refusals: ReadonlySet<ProblemCode> = new Set(['conflict', 'not_found', 'invalid_request']);

export class Connections {
  readonly #world: World;
  readonly #machine: Machine;
  readonly #running: () => { life: Life; process: Process };

  constructor(world: World, machine: Machine, running: () => { life: Life; process: Process }) {
    this.#world = world;
    this.#machine = machine;
    this.#running = running;
  }

  /** Sends a request, like a client whose connection ends with the process. A response implies that everything is stored. */
  ask<T>(what: string, ask: (process: Process) => Promise<T>, heard: (answer: T) => void): void {
    const { life, process } = this.#running();
    void this.#deliver(life, what, () => ask(process), heard);
  }

  /** The same, for requests that only the session object has. */
  whole<T>(what: string, ask: (process: WholeProcess) => Promise<T>, heard: (answer: T) => void): void {
    this.ask(
      what,
      ({ more }) => {
        if (more === undefined) throw new Error(`"${what}" is not for this tier`);
        return ask(more);
      },
      heard,
    );
  }

  /** Reads until the end, or until the process is gone. What a reader has is durable. Comments are skipped. */
  async follow(stream: ReadableStream<Uint8Array>, given: (text: string, all: string) => void): Promise<void> {
    const { life } = this.#running();
    const reader = stream.getReader();
    let all = '';
    try {
      for (;;) {
        const { done, value } = await reader.read();
        if (life.state !== 'alive' || done) return;
        await life.pause('a reader is given bytes');
        if (life.state !== 'alive') return;
        this.#machine.flush();
        const text = new TextDecoder().decode(value).replace(/^:.*\n\n/gm, '');
        all += text;
        given(text, all);
        if (this.#world.random.chance(0.1)) return void reader.cancel();
      }
    } catch (error) {
      if (life.state === 'alive') this.#world.fail(`a stream failed: ${error instanceof Error ? error.stack : String(error)}`);
    }
  }

  async #deliver<T>(life: Life, what: string, ask: () => Promise<T>, heard: (answer: T) => void): Promise<void> {
    try {
      const answer = await ask();
      await life.pause(`the answer to "${what}" is on its way`);
      if (life.state !== 'alive') return;
      this.#machine.flush();
      this.#world.note(() => `  "${what}" is answered`);
      heard(answer);
    } catch (error) {
      if (life.state !== 'alive') return;
      const refused = (error instanceof Problem && refusals.has(error.code)) || error instanceof CatalogAway;
      if (refused) this.#world.note(() => `  "${what}" is refused: ${String(error)}`);
      else this.#world.fail(`"${what}" failed: ${error instanceof Error ? error.stack : String(error)}`);
    }
  }
}
