/** Writes suites (`core/replay/suite.ts`). What they select need not exist: an agent that was deleted has recorded turns. */
import { once } from '../../../core/memoize.ts';
import { parseInput } from '../../../core/problem.ts';
import { ResourceName } from '../../../core/turn/agent.ts';
import { checkNameInBody, type DocumentWriter } from './write-document.ts';

export const suiteWriter: DocumentWriter = {
  nameFault: (_context, name) => ResourceName.safeParse(name).error?.issues[0]?.message ?? null,

  prepare: async (_context, name, body) => {
    const { Suite } = await loadSuite();
    const suite = parseInput(Suite, body);
    checkNameInBody(name, suite);
    return { body: { ...suite, name } };
  },
};

/** Rarely written. */
const loadSuite = once(() => import('../../../core/replay/suite.ts'));
