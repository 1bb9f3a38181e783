/**
 * One call that is held open in this object (`engine/serve/held-call.ts`): the call itself in memory, and that it was begun and has ended in a row,
 * so that a call which died with the process is known as one.
 */
import type { Principal } from '../core/principal.ts';
import { isRecord } from '../core/wire-value.ts';
import type { CallHold, HeldCall } from '../engine/serve/held-call.ts';
import { serveLost } from '../engine/serve/serve-call.ts';
import { readView, type ServeTarget } from '../engine/serve/serve-view.ts';
import type { ServeDeps } from '../mcp/server/serving.ts';
import type { McpSessionRequest } from '../ports/mcp-sessions.ts';

/** `migrated`: called before the first row. `begun`: after it. */
export type KeptCallHost = { deps: ServeDeps; sql: SqlStorage; migrated(): void; begun(): void };

type Begun = { principal: Principal; target: ServeTarget; callId: string; name: string; arguments: Record<string, unknown> };

export class KeptCall {
  readonly #host: KeptCallHost;
  #call: HeldCall | null = null;

  constructor(host: KeptCallHost) {
    this.#host = host;
  }

  /** A `tools/call`: the first of this call, or one that brings answers. */
  async serve(principal: Principal, target: ServeTarget, name: string, request: McpSessionRequest): Promise<Response> {
    const { deps } = this.#host;
    const body: unknown = JSON.parse(request.body ?? 'null');
    // Late, as in `mcp/late.ts`.
    const { serveStateless } = await import('../mcp/server/stateless.ts');
    const view = await readView(deps, principal, target);
    const headers = request.headers.map(([header, value]): [string, string] => [header, value]);
    // Where it came to says nothing in here.
    const asked = new Request('https://session.invalid/mcp', { method: request.method, headers });
    const hold = this.#holdFor(principal, target, name, body);
    return await serveStateless(deps, { request: asked, body, principal, target, view, hold });
  }

  get state(): 'none' | 'open' | 'over' {
    const begun = readBegun(this.#host.sql);
    return begun === null ? 'none' : begun.isOver ? 'over' : 'open';
  }

  /** Ends the open call, if there is one. */
  stop(reason: Error): void {
    this.#call?.stop(reason);
  }

  /** Waits for the end of the open call; one that was lost is told to the audit. */
  async finish(): Promise<void> {
    const { sql, deps } = this.#host;
    const begun = readBegun(sql);
    if (begun !== null && this.#call === null) {
      await this.#tellLost(begun).catch((error: unknown) => deps.log.error('a lost call could not be audited', { cause: String(error) }));
    }
    await this.#call?.over;
    sql.exec('UPDATE held SET is_over = 1');
  }

  #holdFor(principal: Principal, target: ServeTarget, name: string, body: unknown): CallHold {
    const { sql, migrated, begun } = this.#host;
    const params = isRecord(body) && isRecord(body.params) ? body.params : {};
    const kept = (): HeldCall | null => this.#call;
    // Of one that has ended nothing is left after a while.
    const isOver = (): boolean => this.state !== 'open';
    return {
      name,
      get call() {
        return kept();
      },
      get isOver() {
        return isOver();
      },
      keep: (call) => {
        this.#call = call;
      },
      started: (callId) => {
        const call = {
          principal,
          target,
          callId,
          name: String(params.name),
          arguments: isRecord(params.arguments) ? params.arguments : {},
        };
        migrated();
        sql.exec('INSERT OR IGNORE INTO held (id, call) VALUES (1, ?)', JSON.stringify(call));
        begun();
      },
    };
  }

  /** Nobody may ever come back for it. */
  async #tellLost({ principal, target, callId, ...call }: Begun): Promise<void> {
    const { deps } = this.#host;
    this.#call = await serveLost(deps, { principal, target, view: await readView(deps, principal, target) }, { ...call, callId });
  }
}

/** Asking must not make its table. */
function readBegun(sql: SqlStorage): (Begun & { isOver: boolean }) | null {
  if (sql.exec("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'held'").toArray().length === 0) return null;
  const row = sql.exec<{ call: string; is_over: number }>('SELECT call, is_over FROM held').toArray()[0];
  // We wrote it.
  return row === undefined ? null : { ...(JSON.parse(row.call) as Begun), isOver: row.is_over === 1 };
}
