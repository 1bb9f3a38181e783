/**
 * Sets the marks of the taint rule (`core/policy/taint.ts`) at the capabilities of every tool: when a file that the conversation was given is read,
 * when a request gets a response, when a result came with credentials or from an untrusted server. The policy reads them with `taintFor`.
 */
import { type EditionTool, trustsAnnotations } from '../../core/toolset/edition-tool.ts';
import type { Effect } from '../../core/policy/policy-effect.ts';
import { requestHost } from '../../core/policy/host.ts';
import type { ServerAccess } from '../../core/servers/server.ts';
import { createTaintMarks, joinTaint, originOfHost, originOfServer, type Taint, type TaintMarks } from '../../core/policy/taint.ts';
import type { ToolResult } from '../../core/tools/tool.ts';
import type { FileSystem } from '../../ports/file-system.ts';
import type { ToolContext } from '../../ports/tool-executor.ts';
import { guardFiles } from './guard-files.ts';
import { isServerTool } from '../call/server-state.ts';

/**
 * Marks what a running tool reads through its capabilities. The call's own marks count at once and are added to the conversation's when the
 * call has run; a call that stops for approval has seen nothing and is rerun. Whatever its nested calls see counts as seen by the call.
 */
export class TaintWatch {
  readonly #kept: TaintMarks;
  readonly #own = createTaintMarks();
  readonly #tool: EditionTool;
  /** The hosts of the tool's requests, redirecting ones included. */
  readonly #hosts = new Set<string>();
  #secret: string | null = null;

  /** `kept`: the marks of the conversation. `keyId`: the key that calls. */
  constructor(kept: TaintMarks, tool: EditionTool, keyId: string) {
    this.#kept = kept;
    this.#tool = tool;
    markForeignText(this.#own, [tool], keyId);
  }

  /** The marks by which the call and its nested calls are judged. */
  get marks(): TaintMarks {
    return {
      read: () => joinTaint(this.#kept.read(), this.#own.read()),
      mark: (label, by, origin) => this.#kept.mark(label, by, origin),
    };
  }

  recordSecret(name: string): void {
    this.#secret ??= name;
  }

  /** Called with each address that a request of the tool goes to, redirects included. */
  recordHost(to: URL): void {
    this.#hosts.add(requestHost(to.href) ?? to.host);
  }

  /** `commits`: whether the tool's commits take effect; for a call that stops for approval they do not, and it has seen nothing. */
  watchContext(context: ToolContext, commits: () => boolean): ToolContext {
    const { canonical } = this.#tool;
    return {
      ...context,
      files: this.#markReads(context.files, commits),
      secret: async (name, host) => {
        const value = await context.secret(name, host);
        this.recordSecret(name);
        return value;
      },
      fetch: async (request) => {
        const response = await context.fetch(request);
        const host = requestHost(response.url || request.url);
        this.#own.mark('untrusted', `a response from ${host ?? 'a host'} (${canonical})`);
        return response;
      },
    };
  }

  /**
   * Called when the call has run and its result will be seen. A secret's value is never shown, but what it gave access to is. Results of
   * this service (`timeout`, `aborted`) get no marks.
   */
  recordResult({ code }: ToolResult, server: ServerAccess | null): void {
    this.#keep();
    if (code === 'timeout' || code === 'aborted') return;
    const { canonical } = this.#tool;
    const origin = server === null ? this.#onlyHost() : originOfServer(server.name);
    if (this.#secret !== null) this.#kept.mark('private', `a result of ${canonical} with the secret ${this.#secret}`, origin);
    if (server !== null && hasCredentials(server))
      this.#kept.mark('private', `a result of ${canonical} with the credentials of its server`, origin);
    if (isServerTool(this.#tool) && this.#tool.trusted !== true)
      this.#kept.mark('untrusted', `a result of ${canonical}, whose server is not trusted`);
  }

  /** Returns undefined if the tool sent requests to no host, or to several. */
  #onlyHost(): string | undefined {
    const [host, ...others] = this.#hosts;
    return host === undefined || others.length > 0 ? undefined : originOfHost(host);
  }

  #keep(): void {
    const { private: read, untrusted } = this.#own.read();
    if (read !== null) this.#kept.mark('private', read);
    if (untrusted !== null) this.#kept.mark('untrusted', untrusted);
  }

  /** Marks reads of content that the conversation was given: not its own files, files of skills, or empty and missing files. */
  #markReads(files: FileSystem, commits: () => boolean): FileSystem {
    return guardFiles(files, {
      deep: false,
      change: () => undefined,
      // Kept when a script commits, since a copy of a given file counts as the session's own.
      mayCommit: () => {
        if (commits()) this.#keep();
        return true;
      },
      read: (path, from) => {
        const stat = from.stat(path);
        if (stat === null || stat.size === 0 || stat.own || from.isReadOnly?.(path) === true) return;
        this.#own.mark('private', `${path} (${this.#tool.canonical})`);
      },
    });
  }
}

/**
 * Marks a made tool that another key wrote: models read its name, description and parameters as soon as it is offered, and its code returns
 * what that key chose. Call it with the tools of a plan, or with the called tool.
 */
export function markForeignText(marks: TaintMarks, tools: readonly EditionTool[], keyId: string): void {
  const foreign = tools.find(({ made }) => made !== undefined && made.by !== keyId);
  if (foreign !== undefined) marks.mark('untrusted', `${foreign.canonical}, written with another key`);
}

/** Whether requests to the server carry credentials: then its results are private. */
export function hasCredentials({ headers = {}, mcp }: ServerAccess): boolean {
  return mcp?.oauth !== undefined || Object.values(headers).some((value) => typeof value !== 'string');
}

/** Returns the marks to judge an effect by; null if the taint rule is off or the effect sends nothing out. `tool`: with its server's current state. */
export function taintFor(marks: TaintMarks | undefined, tool: EditionTool, effect: Effect): Taint | null {
  const taint = marks?.read() ?? null;
  return taint?.origin !== undefined && asksOrigin(taint.origin, tool, effect) ? null : taint;
}

/**
 * Whether an effect only reads at the single origin of all private data. That discloses nothing new to the origin; otherwise every second
 * question to the user's own issue tracker would need approval. Writing is excluded: private data written elsewhere at the same host may
 * be public there.
 */
function asksOrigin(origin: string, tool: EditionTool, effect: Effect): boolean {
  if (effect.kind === 'network') return origin === originOfHost(effect.host) && (effect.method === 'GET' || effect.method === 'HEAD');
  if (!isServerTool(tool) || origin !== originOfServer(tool.server)) return false;
  return tool.annotations?.readOnlyHint === true && trustsAnnotations(tool);
}
