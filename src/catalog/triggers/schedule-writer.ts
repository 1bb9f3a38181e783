/** Writing schedules: when they run next follows from each write. */
import { ResourceName } from '../../core/agent.ts';
import { parseDocument } from '../../core/issues.ts';
import { Schedule } from '../../core/triggers/schedule.ts';
import { checkNameInBody } from '../write-document.ts';
import type { DocumentWriter } from '../write-document.ts';

export const scheduleWriter: DocumentWriter = {
  nameFault: (_context, name) => ResourceName.safeParse(name).error?.issues[0]?.message ?? null,

  prepare: async (_context, name, body) => {
    const { callbackSecret: _secret, ...document } = parseDocument(Schedule, body);
    checkNameInBody(name, document);
    return { body: { ...document, name } };
  },
};
