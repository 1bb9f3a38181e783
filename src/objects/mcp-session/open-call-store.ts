/**
 * One call that this object holds open (`engine/mcp/in-flight-call.ts`): the running call in memory, and a row that says that it was
 * started and whether it has ended, so that a call interrupted by a crash is recognized.
 */
import type { Principal } from '../../core/people/principal.ts';
import { isRecord } from '../../core/json/wire-value.ts';
import type { InFlightCallSlot, InFlightCall } from '../../engine/mcp/in-flight-call.ts';
import { readView, type ServeTarget } from '../../engine/mcp/serve-view.ts';
import type { ServeDeps } from '../../mcp/server/exchange.ts';
import type { McpSessionRequest } from '../../ports/mcp-sessions.ts';

/** `migrate` is called before the first row is written, `onStarted` after it. */
export type OpenCallHost = { deps: ServeDeps; sql: SqlStorage; migrate(): void; onStarted(): void };

type StartedCall = { principal: Principal; target: ServeTarget; callId: string; name: string; arguments: Record<string, unknown> };

export class OpenCallStore {
  readonly #host: OpenCallHost;
  #call: InFlightCall | null = null;

  constructor(host: OpenCallHost) {
    this.#host = host;
  }

  /** Serves a `tools/call`: the first request of this call, or one that carries answers. */
  async serve(principal: Principal, target: ServeTarget, name: string, request: McpSessionRequest): Promise<Response> {
    const { deps } = this.#host;
    const body: unknown = JSON.parse(request.body ?? 'null');
    // Imported lazily, as in `mcp/lazy-client.ts`.
    const { serveBody } = await import('../../mcp/server/stateless.ts');
    const view = await readView(deps, principal, target);
    const headers = request.headers.map(([header, value]): [string, string] => [header, value]);
    // The URL has no meaning inside the object.
    const asked = new Request('https://session.invalid/mcp', { method: request.method, headers });
    const hold = this.#holdFor(principal, target, name, body);
    return await serveBody(deps, { request: asked, principal, target, view, hold }, body);
  }

  get state(): 'none' | 'open' | 'over' {
    const started = readStartedCall(this.#host.sql);
    return started === null ? 'none' : started.isOver ? 'over' : 'open';
  }

  /** Stops the open call, if there is one. */
  stop(reason: Error): void {
    this.#call?.stop(reason);
  }

  /** Waits for the end of the open call and audits an interrupted one. */
  async finish(): Promise<void> {
    const { sql, deps } = this.#host;
    const started = readStartedCall(sql);
    if (started !== null && this.#call === null) {
      await this.#auditInterrupted(started).catch((error: unknown) =>
        deps.log.error('a lost call could not be audited', { cause: String(error) }),
      );
    }
    await this.#call?.ended;
    sql.exec('UPDATE held SET is_over = 1');
  }

  #holdFor(principal: Principal, target: ServeTarget, name: string, body: unknown): InFlightCallSlot {
    const { sql, migrate, onStarted } = this.#host;
    const params = isRecord(body) && isRecord(body.params) ? body.params : {};
    const kept = (): InFlightCall | null => this.#call;
    // A call that has ended is deleted after a while.
    const isOver = (): boolean => this.state !== 'open';
    return {
      name,
      get call() {
        return kept();
      },
      get hasEnded() {
        return isOver();
      },
      store: (call) => {
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
        migrate();
        sql.exec('INSERT OR IGNORE INTO held (id, call) VALUES (1, ?)', JSON.stringify(call));
        onStarted();
      },
    };
  }

  /** Audits an interrupted call now, since the client may never return. */
  async #auditInterrupted({ principal, target, callId, ...call }: StartedCall): Promise<void> {
    const { deps } = this.#host;
    // Few calls are interrupted, and every isolate would load it.
    const { serveUnrecoverable } = await import('../../engine/mcp/serve-call.ts');
    this.#call = await serveUnrecoverable(deps, { principal, target, view: await readView(deps, principal, target) }, { ...call, callId });
  }
}

/** Reads the row without creating its table. */
function readStartedCall(sql: SqlStorage): (StartedCall & { isOver: boolean }) | null {
  if (sql.exec("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'held'").toArray().length === 0) return null;
  const row = sql.exec<{ call: string; is_over: number }>('SELECT call, is_over FROM held').toArray()[0];
  // Written by this file.
  return row === undefined ? null : { ...(JSON.parse(row.call) as StartedCall), isOver: row.is_over === 1 };
}
