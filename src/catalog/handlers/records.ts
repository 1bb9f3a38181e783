/** Handlers of records of sessions and calls. */
import { listAudit } from '../records/audit.ts';
import { forgetSession, indexSession, listSessions } from '../records/session-index.ts';
import { addTaintMarks, readTaintMarks } from '../records/taint-marks.ts';
import type { CatalogHandlers } from './catalog-handlers.ts';

export const recordHandlers = {
  indexSession: ({ context }, row) => {
    indexSession(context, row);
  },
  forgetSession: ({ context }, id) => {
    forgetSession(context, id);
  },
  taintMarks: ({ context }, names) => readTaintMarks(context, names),
  addTaintMarks: ({ context }, marks) => {
    addTaintMarks(context, marks);
  },
  sessions: ({ context }, keyId, page) => listSessions(context, keyId, page),
  appendAudit: async ({ audit }, rows) => {
    await audit.append(rows);
  },
  audit: ({ context }, query) => listAudit(context, query),
} satisfies Partial<CatalogHandlers>;
