/**
 * The tool that reads on in a result that was too long to be shown: its definition, for the toolset that lists it
 * (`tools/fetch-result.ts` runs it) and for the turn that is given it because a result was cut (`engine/plan/plan-names.ts`).
 */
import { z } from 'zod';
import { injectedTool } from './injected-tool.ts';
import { limits } from './limits.ts';

export const fetchResultName = 'fetch_result';

export const fetchResultDescription =
  'Reads on in a long tool result of this session that was cut. The note at the cut names callId and offset. Answers the text from there, where the next piece begins, and the size of the whole.';

export const FetchResultInput = z.strictObject({
  callId: z.string().min(1).max(200).describe('Id of the call whose result was cut, as the note at the cut says it'),
  offset: z.int().min(0).default(0).describe('Where to begin, as the note or the answer before says it'),
  maxBytes: z
    .int()
    .min(1)
    .max(limits.fetchedResultBytes)
    .default(limits.fetchedResultBytes)
    .describe(`At most this many bytes of text, up to ${limits.fetchedResultBytes}`),
});

/** As it is offered to a turn whose toolset does not list it. */
export const fetchResultTool = injectedTool(fetchResultName, fetchResultDescription, FetchResultInput);
