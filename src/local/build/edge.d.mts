/** Types of `moniker-gateway/edge`, for its users. `src/edge.ts` implements them. */

export type EdgeKey = {
  /** What a client sends: at least 32 random characters. */
  key: string;
  name: string;
  scopes: ('chat' | 'tools' | 'toolsets' | 'approve' | 'admin')[];
  /** Restricts the key to these toolsets. */
  toolsets?: string[];
  agents?: string[];
  /** Fields for presets of toolsets. */
  caller?: Record<string, string>;
  /** ISO 8601. */
  expiresAt?: string;
};

export type EdgeOptions = {
  /** A project: an object, or its text as JSON or YAML. */
  project: unknown;
  /** Settings such as `MONIKER_ROOT_KEY` and `OPENAI_API_KEY`, and values for variables in the project. */
  env?: Readonly<Record<string, string | undefined>>;
  /** Further API keys, each with its rights. */
  keys?: readonly EdgeKey[];
  /** Keeps work alive after the response, where the platform would stop it. */
  waitUntil?(work: Promise<unknown>): void;
  /** Receives the audit rows of tool calls; a call fails if it fails. */
  audit?(rows: readonly Readonly<Record<string, unknown>>[]): void | Promise<void>;
  /** Sends outgoing requests, without following redirects. Absent: the global `fetch`. */
  fetch?(request: Request): Promise<Response>;
};

/** Throws an error that lists everything that is wrong with the project or the keys. */
export declare function createEdgeHandler(options: EdgeOptions): Promise<(request: Request) => Promise<Response>>;
