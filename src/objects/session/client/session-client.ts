/**
 * Clients for the Durable Objects of sessions and of MCP sessions: create and check ids, unwrap outcomes, and add new sessions to the
 * Catalog's index.
 */
import { limits } from '../../../core/limits/limits.ts';
import { type Outcome, Problem } from '../../../core/problem.ts';
import type { Principal } from '../../../core/people/principal.ts';
import { type MethodTable, objectClient } from '../../shared/object-client.ts';
import type { CatalogPort } from '../../../ports/catalog.ts';
import type { ArgumentsOf, ResultOf } from '../../../ports/remote.ts';
import type { ReplayPort, Replays } from '../../../ports/replays.ts';
import type { SessionPort, SessionSetup, SessionView, Sessions } from '../../../ports/session.ts';
import type { Bindings } from '../../../storage/bindings.ts';
import { openImage } from '../../../storage/files/file-image.ts';
import { isSessionId } from '../../../core/text/reference.ts';
import { objectName } from '../../../storage/keys.ts';
import { objectPlace } from '../../shared/object-place.ts';
import type { Ids } from '../../../ports/runtime.ts';
import type { FileChange, FileSpace, FileSpaceName } from '../../../ports/file-space.ts';
import type { LinkStore } from '../../../ports/mcp-sessions.ts';
import type { FilesPort, McpSessionPort, McpSessions } from '../../../ports/mcp-sessions.ts';
import type { McpSessionIds } from '../../../storage/keys/signed-token.ts';
import type { NoteObject } from '../../shared/workspace-objects.ts';

/** The part of a session's setup that an isolate caches: with `maxCachedNames` of them 40 MB. */
const maxCachedSetupCharacters = 4_000;

/** What the object of a session has besides the port. */
export interface SessionObject extends SessionPort {
  createOrGet(owner: Principal, setup: SessionSetup, keptMs: number): Promise<SessionView>;
}

const read = { retry: true } as const;
/** They may wait for a turn, or change something. */
const once = { retry: false } as const;

const methods: MethodTable<SessionObject> = {
  createOrGet: once,
  view: read,
  setup: read,
  fork: once,
  importConversation: once,
  appendHistory: once,
  setMetadata: once,
  remove: once,
  removeIfUnused: once,
  messages: read,
  submit: once,
  findByIdempotencyKey: read,
  hasTurn: read,
  waitForAnswer: once,
  stream: once,
  completion: once,
  completionTurn: read,
  deleteCompletion: once,
  eventsAfter: read,
  eventPage: read,
  recordedTurn: read,
  approvals: read,
  approval: read,
  decide: once,
  mintLink: once,
  linkedApproval: read,
  decideByLink: once,
  submitResults: once,
  submitInput: once,
  cancel: once,
  cancelAll: once,
  call: once,
  explain: read,
  findCallByIdempotencyKey: read,
  listFiles: read,
  readFile: read,
  writeFile: once,
  deleteFile: once,
  loadFiles: read,
  applyFiles: once,
};

/**
 * `secret`: of this installation, from its first master key on; it makes the ids of sessions that are created with a key unguessable.
 */
export function createSessions(
  bindings: Pick<Bindings, 'SESSION'>,
  catalog: (workspace: string) => CatalogPort,
  secret: () => Promise<string | null>,
  noteObject: NoteObject,
): Sessions {
  const namespace = bindings.SESSION;
  const setups = new Map<string, SessionSetup>();
  const objectOf = (id: DurableObjectId): SessionObject =>
    objectClient({ namespace, id: () => id, what: `The session ${id.toString()}`, timeoutMs: null }, methods);
  const sessionOf = (id: DurableObjectId): SessionPort => rememberSetup(id.toString(), objectOf(id), setups);
  return {
    async create(owner, setup, key) {
      const id = key === undefined ? namespace.newUniqueId() : namespace.idFromName(await keyedName(owner, key, await secret()));
      // A key is valid for a day, so its session is stored for at least as long.
      await noteObject(owner.workspace, 'session', id.toString());
      const keptMs = key === undefined ? limits.unlistedSessionTtlMs : limits.idempotencyTtlMs;
      const view = await objectOf(id).createOrGet(owner, setup, keptMs);
      if (setup.listed) {
        const { agent = null, model = null, toolset = null } = setup;
        const row = { id: view.id, keyId: owner.keyId, agent, model, toolset, createdAt: Date.parse(view.createdAt) };
        await catalog(owner.workspace).indexSession(row);
      }
      return view;
    },
    async idOf(owner, key) {
      return namespace.idFromName(await keyedName(owner, key, await secret())).toString();
    },
    async getByKey(owner, key) {
      return sessionOf(namespace.idFromName(await keyedName(owner, key, await secret())));
    },
    get(id) {
      return sessionOf(sessionObjectId(namespace, id));
    },
  };
}

const replayMethods: MethodTable<ReplayPort> = {
  start: read,
  view: read,
  cases: read,
  readCase: read,
  eventsAfter: once,
  cancel: read,
  remove: once,
};

/** The object of a replay is that of a session. */
export function createReplays({ SESSION: namespace }: Pick<Bindings, 'SESSION'>, sessions: Sessions): Replays {
  return {
    create: async (owner, key) =>
      (await sessions.create(owner, { listed: false, replay: true }, ...(key === undefined ? [] : [`replay ${key}`]))).id,
    get(id) {
      const object = sessionObjectId(namespace, id);
      const what = `The replay ${id}`;
      const send = <Name extends keyof ReplayPort>(rpc: ReplayRpc, method: Name, args: ArgumentsOf<ReplayPort, Name>) =>
        rpc.replay(method, args);
      return objectClient({ namespace, id: () => object, what, timeoutMs: null, send }, replayMethods);
    },
  };
}

type ReplayRpc = {
  replay<Name extends keyof ReplayPort>(method: Name, args: ArgumentsOf<ReplayPort, Name>): Promise<Outcome<ResultOf<ReplayPort, Name>>>;
};

/** Returns the name of a keyed session: the same key of the same principal is always the same session. */
async function keyedName(owner: Principal, key: string, secret: string | null): Promise<string> {
  return await objectName(owner.workspace, 'session', JSON.stringify([owner.keyId, key, secret]));
}

/**
 * Caches the setup of a session, which never changes and is needed for the plan of every turn, per isolate and key. Whether the session
 * still exists is checked when the turn is submitted.
 */
function rememberSetup(id: string, session: SessionPort, setups: Map<string, SessionSetup>): SessionPort {
  const nameFor = (caller: Principal): string => `${id} ${caller.workspace} ${caller.keyId}`;
  return {
    ...session,
    async setup(caller) {
      const known = setups.get(nameFor(caller));
      if (known !== undefined) return known;
      const setup = await session.setup(caller);
      // A setup with tools of the client can be a megabyte: too long to cache thousands.
      if (JSON.stringify(setup).length > maxCachedSetupCharacters) return setup;
      if (setups.size >= limits.maxCachedNames) setups.clear();
      setups.set(nameFor(caller), setup);
      return setup;
    },
    async remove(caller, of) {
      await session.remove(caller, of);
      setups.delete(nameFor(caller));
    },
  };
}

/**
 * Returns the object of a session. An id of another installation, whose session was restored here, is not an id of this namespace: its object
 * has a name. Any other text gets the 404 of an unknown session.
 */
export function sessionObjectId(namespace: DurableObjectNamespace, id: string): DurableObjectId {
  if (!isSessionId(id)) throw new Problem('not_found', 'There is no such session.');
  try {
    return namespace.idFromString(id);
  } catch {
    // No other name of an object has this form, and an object that was never used stores nothing when it is asked.
    return namespace.idFromName(`restored:${id}`);
  }
}

export function createMcpSessions(
  bindings: Pick<Bindings, 'MCP_SESSION'>,
  { ids, sessionIds, noteObject }: { ids: Ids; sessionIds: McpSessionIds; noteObject: NoteObject },
): McpSessions {
  const objectOf = (workspace: string, nonce: string): McpSessionPort =>
    mcpSessionClient(bindings, noteObject, workspace, nonce, mcpSessionMethods);
  return {
    async send(caller, target, to, request) {
      const { workspace, keyId } = caller;
      if ('call' in to) {
        const name = to.call ?? ids.next('held');
        return await objectOf(workspace, name).hold(caller, target, name, request);
      }
      if (to.session !== null) {
        const nonce = await sessionIds.readNonce({ workspace, keyId, target }, to.session);
        return nonce === null ? null : await objectOf(workspace, nonce).resume(caller, target, request);
      }
      const nonce = ids.next('mcp');
      const id = await sessionIds.mint({ workspace, keyId, target }, nonce);
      return await objectOf(workspace, nonce).begin(caller, target, id, request);
    },
    async listen(caller, target, id, request) {
      const { workspace, keyId } = caller;
      const nonce = await sessionIds.readNonce({ workspace, keyId, target }, id);
      return nonce === null ? null : await objectOf(workspace, nonce).listen(caller, target, request);
    },
  };
}

/** Returns the files that MCP calls without an MCP session work on, and the resources that their results linked to. */
export function createFileSpaces(
  bindings: Pick<Bindings, 'MCP_SESSION'>,
  { sessions, now, noteObject }: { sessions: Sessions; now: () => number; noteObject: NoteObject },
) {
  const objectOf = ({ workspace, keyId }: Principal, own: readonly unknown[]): FilesPort => {
    const id = JSON.stringify(['files', keyId, ...own]);
    return mcpSessionClient(bindings, noteObject, workspace, id, filesMethods);
  };
  const links = (caller: Principal, toolset: string | null): LinkStore => {
    const { findLinks: find, addLinks: add } = objectOf(caller, ['toolset', toolset]);
    return { find, add };
  };
  const fileSpace = (caller: Principal, name: FileSpaceName): FileSpace => {
    if (name.kind === 'session') {
      const session = sessions.get(name.session);
      const port = {
        load: () => session.loadFiles(caller),
        apply: (changes: readonly FileChange[]) => session.applyFiles(caller, changes),
      };
      return { open: () => openImage(port, now) };
    }
    const { loadFiles: load, applyFiles: apply } = objectOf(
      caller,
      name.kind === 'named' ? ['named', name.name] : ['toolset', name.toolset],
    );
    return { open: () => openImage({ load, apply }, now) };
  };
  return { fileSpace, links };
}

const mcpSessionMethods: MethodTable<McpSessionPort> = { begin: once, resume: once, listen: once, hold: once };
const filesMethods: MethodTable<FilesPort> = { loadFiles: read, applyFiles: once, findLinks: read, addLinks: once };

/** `id`: the unsigned part of the id of a session, or what files and links belong to. Each call notes the object. */
function mcpSessionClient<Port extends object>(
  { MCP_SESSION }: Pick<Bindings, 'MCP_SESSION'>,
  noteObject: NoteObject,
  workspace: string,
  id: string,
  table: MethodTable<Port>,
): Port {
  const place = objectPlace(MCP_SESSION, workspace, 'mcp-session', id, (name) => noteObject(workspace, 'mcp-session', name));
  return objectClient({ ...place, what: 'The MCP session', timeoutMs: null }, table);
}
