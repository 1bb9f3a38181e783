/** The lists of sessions and of their questions, in memory. */
import { findShortage } from '../../src/core/limits/fair-share.ts';
import { storedBounds } from '../../src/core/limits/pools.ts';
import type { ListedSession, ListedWait, OpenWork, WaitFilter } from '../../src/core/turn/session-summary.ts';
import type { CatalogPort } from '../../src/ports/catalog.ts';
import { newestFirst } from '../../src/storage/cursor.ts';

type SessionLists = Pick<
  CatalogPort,
  'indexSession' | 'updateSession' | 'admitOpenWork' | 'questionsByKey' | 'forgetSession' | 'sessions' | 'waits'
>;

const none: OpenWork = { pendingQuestions: 0, queuedTurns: 0 };

export function fakeSessionLists(): SessionLists {
  let number = 0;
  let sessions: (ListedSession & { number: number; revision: number; open: OpenWork })[] = [];
  let waits: (ListedWait & { number: number })[] = [];
  const add = (row: Pick<ListedSession, 'id' | 'keyId' | 'agent' | 'model' | 'toolset' | 'createdAt'>) => {
    const known = sessions.find(({ id }) => id === row.id);
    if (known !== undefined) return known;
    const unused = { status: 'idle' as const, title: null, usage: { inputTokens: 0, outputTokens: 0 } };
    const added = { ...row, ...unused, lastActivityAt: row.createdAt, number: ++number, revision: 0, open: none };
    sessions.push(added);
    return added;
  };
  return {
    indexSession: async (row) => void add(row),
    updateSession: async ({ id, keyId, agent, model, toolset, createdAt, summary, waits: changed, open }) => {
      const about = { ...(agent !== null && { agent }), ...(model !== null && { model }), ...(toolset !== null && { toolset }) };
      const row = add({ id, keyId, ...about, createdAt: new Date(createdAt).toISOString() });
      const { activeAt, ...rest } = summary;
      if (summary.revision >= row.revision) Object.assign(row, rest, { open, lastActivityAt: new Date(activeAt).toISOString() });
      for (const wait of changed) {
        const isSame = (known: ListedWait) => known.session === id && known.callId === wait.callId && known.kind === wait.kind;
        waits = waits.filter((known) => !isSame(known));
        waits.push({ ...wait, session: id, keyId, ...(agent !== null && { agent }), number: ++number });
      }
    },
    admitOpenWork: async ({ session, keyId, of, has, more, granted }) => {
      const sum = (rows: typeof sessions) => rows.reduce((total, { open }) => total + open[of], has);
      const others = sessions.filter(({ id }) => id !== session);
      const all = sum(others);
      const used = { key: sum(others.filter((row) => row.keyId === keyId)), workspace: all, total: all };
      const shortage = findShortage(storedBounds[of], { workspace: 'default', keyId }, used, more, granted);
      const own = sessions.find(({ id }) => id === session);
      if (shortage === null && own !== undefined) own.open = { ...own.open, [of]: has + more };
      return shortage;
    },
    questionsByKey: async () => {
      const rows = sessions.filter(({ open }) => open.pendingQuestions > 0);
      return new Map(
        Object.entries(Object.groupBy(rows, ({ keyId }) => keyId)).map(([keyId, own = []]) => [
          keyId,
          own.reduce((total, { open }) => total + open.pendingQuestions, 0),
        ]),
      );
    },
    forgetSession: async (id) => {
      sessions = sessions.filter((row) => row.id !== id);
      waits = waits.filter(({ session }) => session !== id);
    },
    sessions: async ({ keyId, status, agent, trigger }, page) => {
      const isStartedBy = (owner: string) => trigger === undefined || owner === trigger || owner.startsWith(`${trigger}:`);
      const found = sessions.filter(
        (row) =>
          (keyId === null || row.keyId === keyId) &&
          (status === undefined || row.status === status) &&
          (agent === undefined || row.agent === agent) &&
          isStartedBy(row.keyId),
      );
      return newestFirst('sessions', page, below(found), ({ number: _number, revision: _revision, open: _open, ...row }) => row);
    },
    waits: async ({ state, of, kind, agent, session }, page) => {
      const found = waits.filter(
        (row) =>
          (row.state === 'pending') === (state === 'pending') &&
          (kind === undefined || row.kind === kind) &&
          (agent === undefined || row.agent === agent) &&
          (session === undefined || row.session === session) &&
          (of === null || isVisible(of, row)),
      );
      return newestFirst(`waits ${state}`, page, below(found), ({ number: _number, ...row }) => row);
    },
  };
}

function below<Row extends { number: number }>(rows: readonly Row[]) {
  return (before: number, count: number): Row[] =>
    rows
      .toReversed()
      .filter((row) => row.number < before)
      .slice(0, count);
}

function isVisible({ keyId, triggered }: NonNullable<WaitFilter['of']>, row: ListedWait): boolean {
  if (row.keyId === keyId) return true;
  if (triggered === undefined || !row.keyId.includes(':')) return false;
  return triggered === 'all' || (row.agent !== undefined && triggered.includes(row.agent));
}
