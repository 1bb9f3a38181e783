/** What the load has sent and received; the end of a soak compares it with what the service and the upstream have counted. */

export type Sample = { work: string; ms: number };

export class Ledger {
  /** Model requests that were answered, without turns. */
  chats = 0;
  /** Calls of the upstream MCP server's tool, by MCP clients and in turns. */
  toolCalls = 0;
  /** Accepted deliveries: id, and the webhook that accepted it. */
  readonly deliveries = new Map<string, string>();
  /** Deliveries that were asked to retry. */
  retried = 0;
  /** Turns of each session of the session API. */
  readonly turns = new Map<string, number>();
  samples: Sample[] = [];
  failed = 0;
  readonly #failures = new Map<string, number>();

  failure(work: string, error: unknown): void {
    this.failed++;
    const text = `${work}: ${error instanceof Error ? error.message : String(error)}`.slice(0, 200);
    if (this.#failures.has(text) || this.#failures.size < 10) this.#failures.set(text, (this.#failures.get(text) ?? 0) + 1);
  }

  /** The first different failures, with how often each happened. */
  failures(): string[] {
    return [...this.#failures].map(([text, count]) => `${count} x ${text}`);
  }

  turn(session: string): void {
    this.turns.set(session, (this.turns.get(session) ?? 0) + 1);
  }

  /** Returns the samples so far and forgets them, so that a long run holds those of a minute only. */
  takeSamples(): Sample[] {
    const taken = this.samples;
    this.samples = [];
    return taken;
  }
}
