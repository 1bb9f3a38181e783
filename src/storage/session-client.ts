/**
 * Clients for the Durable Objects of sessions and of MCP sessions: create and check ids, unwrap outcomes, and add new sessions to the
 * Catalog's index.
 */
import { limits } from '../core/limits.ts';
import { Problem, unwrap, type Outcome } from '../core/problem.ts';
import type { Principal } from '../core/principal.ts';
import type { CatalogPort } from '../ports/catalog.ts';
import { fromRemote, type Remote } from '../ports/remote.ts';
import type { SessionPort, SessionSetup, SessionView, Sessions } from '../ports/session.ts';
import type { Bindings } from './bindings.ts';
import { openImage } from './file-image.ts';
import { isSessionId } from '../core/reference.ts';
import { objectName } from './keys.ts';
import type { Ids } from '../ports/runtime.ts';
import type { FileChange, FileSpace, FileSpaceName } from '../ports/file-space.ts';
import type { LinkStore } from '../ports/link-store.ts';
import type { McpSessionPort, McpSessions } from '../ports/mcp-sessions.ts';
import type { McpSessionIds } from './signed-token.ts';
import type { NoteObject } from './workspace-objects.ts';

/** The part of a session's setup that an isolate caches: with `maxCachedNames` of them 40 MB. */
const maxCachedSetupCharacters = 4_000;

type SessionStub = Remote<SessionPort> & {
  createOrGet(owner: Principal, setup: SessionSetup, keptMs?: number): Promise<Outcome<SessionView>>;
};

const methods: Readonly<Record<keyof SessionPort, true>> = {
  view: true,
  setup: true,
  fork: true,
  importConversation: true,
  remove: true,
  removeIfUnused: true,
  messages: true,
  submit: true,
  findByIdempotencyKey: true,
  hasTurn: true,
  waitForAnswer: true,
  stream: true,
  completion: true,
  completionEdition: true,
  eventsAfter: true,
  eventPage: true,
  approvals: true,
  approval: true,
  decide: true,
  mintLink: true,
  linkedApproval: true,
  decideByLink: true,
  submitResults: true,
  submitInput: true,
  cancel: true,
  cancelAll: true,
  call: true,
  explain: true,
  findCallByIdempotencyKey: true,
  listFiles: true,
  readFile: true,
  writeFile: true,
  deleteFile: true,
  loadFiles: true,
  applyFiles: true,
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
  // The class is on a higher floor; this is its interface.
  const stubOf = (id: DurableObjectId): SessionStub => namespace.get(id) as unknown as SessionStub;
  const sessionOf = (id: DurableObjectId): SessionPort =>
    rememberSetup(id.toString(), fromRemote<SessionPort>(stubOf(id), methods), setups);
  return {
    async create(owner, setup, key) {
      const id = key === undefined ? namespace.newUniqueId() : namespace.idFromName(await keyedName(owner, key, await secret()));
      // A key is valid for a day, so its session is stored for at least as long.
      await noteObject(owner.workspace, 'session', id.toString());
      const keptMs = key === undefined ? limits.unlistedSessionTtlMs : limits.idempotencyTtlMs;
      const view = unwrap(await stubOf(id).createOrGet(owner, setup, keptMs));
      if (setup.listed) {
        const { agent, model, toolset } = setup;
        await catalog(owner.workspace).indexSession({
          id: view.id,
          keyId: owner.keyId,
          ...(agent !== undefined && { agent }),
          ...(model !== undefined && { model }),
          ...(toolset !== undefined && { toolset }),
          createdAt: view.createdAt,
        });
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
    async remove(caller) {
      await session.remove(caller);
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
  const stubOf = async (workspace: string, nonce: string): Promise<McpSessionPort> => {
    const namespace = bindings.MCP_SESSION;
    const name = await objectName(workspace, 'mcp-session', nonce);
    await noteObject(workspace, 'mcp-session', name);
    // The class is on a higher floor; this is its interface.
    return namespace.get(namespace.idFromName(name)) as unknown as McpSessionPort;
  };
  return {
    async begin(caller, target, request) {
      const { workspace, keyId } = caller;
      const nonce = ids.next('mcp');
      const id = await sessionIds.mint({ workspace, keyId, target }, nonce);
      return await (await stubOf(workspace, nonce)).begin(caller, target, id, request);
    },
    async resume(caller, target, id, request) {
      const { workspace, keyId } = caller;
      const nonce = await sessionIds.readNonce({ workspace, keyId, target }, id);
      return nonce === null ? null : await (await stubOf(workspace, nonce)).resume(caller, target, request);
    },
    async listen(caller, target, id, request) {
      const { workspace, keyId } = caller;
      const nonce = await sessionIds.readNonce({ workspace, keyId, target }, id);
      return nonce === null ? null : await (await stubOf(workspace, nonce)).listen(caller, target, request);
    },
    async callKeptOpen(caller, target, name, request) {
      const held = name ?? ids.next('held');
      return await (await stubOf(caller.workspace, held)).hold(caller, target, held, request);
    },
  };
}

/** Returns the files that MCP calls without an MCP session work on, and the resources that their results linked to. */
export function createFileSpaces(
  bindings: Pick<Bindings, 'MCP_SESSION'>,
  { sessions, now, noteObject }: { sessions: Sessions; now: () => number; noteObject: NoteObject },
) {
  const stubOf = async ({ workspace, keyId }: Principal, own: readonly unknown[]): Promise<McpSessionPort> => {
    const namespace = bindings.MCP_SESSION;
    const id = await objectName(workspace, 'mcp-session', JSON.stringify(['files', keyId, ...own]));
    await noteObject(workspace, 'mcp-session', id);
    // The class is on a higher floor; this is its interface.
    return namespace.get(namespace.idFromName(id)) as unknown as McpSessionPort;
  };
  const links = (caller: Principal, toolset: string | null): LinkStore => ({
    find: async (uris) => unwrap(await (await stubOf(caller, ['toolset', toolset])).findLinks(uris)),
    add: async (found) => unwrap(await (await stubOf(caller, ['toolset', toolset])).addLinks(found)),
  });
  const fileSpace = (caller: Principal, name: FileSpaceName): FileSpace => {
    if (name.kind === 'session') {
      const session = sessions.get(name.session);
      const port = {
        load: () => session.loadFiles(caller),
        apply: (changes: readonly FileChange[]) => session.applyFiles(caller, changes),
      };
      return { open: () => openImage(port, now) };
    }
    const own = name.kind === 'named' ? ['named', name.name] : ['toolset', name.toolset];
    const port = {
      load: async () => unwrap(await (await stubOf(caller, own)).loadFiles()),
      apply: async (changes: readonly FileChange[]) => unwrap(await (await stubOf(caller, own)).applyFiles(changes)),
    };
    return { open: () => openImage(port, now) };
  };
  return { fileSpace, links };
}
