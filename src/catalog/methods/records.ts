/** Methods for records of sessions and calls. */
import { listAudit } from '../records/audit.ts';
import { forgetSession, indexSession, listSessions } from '../records/session-index.ts';
import { addTaintMarks, readTaintMarks } from '../records/taint-marks.ts';
import type { MethodTable } from './catalog-handlers.ts';

export const recordMethods = {
  concurrent: {
    indexSession: ({ context }, row) => {
      indexSession(context, row);
      return null;
    },
    forgetSession: ({ context }, id) => {
      forgetSession(context, id);
      return null;
    },
    taintMarks: ({ context }, names) => readTaintMarks(context, names),
    addTaintMarks: ({ context }, marks) => {
      addTaintMarks(context, marks);
      return null;
    },
    sessions: ({ context }, keyId, page) => listSessions(context, keyId, page),
    appendAudit: async ({ audit }, rows) => {
      await audit.append(rows);
      return null;
    },
    audit: ({ context }, query) => listAudit(context, query),
  },
  serialized: {},
} satisfies MethodTable;
