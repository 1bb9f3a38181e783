/**
 * The tool that reads the rest of a result that was too long to be shown: its definition, for toolsets that list it
 * (`tools/fetch-result.ts` runs it) and for turns that get it because a result was cut (`engine/plan/plan-names.ts`).
 */
import { z } from 'zod';
import { injectedTool } from './injected-tool.ts';
import { KB } from '../limits/units.ts';

export const fetchedResultBytes = 48 * KB;

export const fetchResultName = 'fetch_result';

export const fetchResultDescription =
  'Reads the rest of a long tool result of this session that was cut. The note at the cut gives callId and offset. Returns the text from that offset, the offset of the next piece, and the total size.';

export const FetchResultInput = z.strictObject({
  callId: z.string().min(1).max(200).describe('Id of the call whose result was cut, as given in the note at the cut'),
  offset: z.int().min(0).default(0).describe('Offset to start at, as given in the note or in the previous result'),
  maxBytes: z
    .int()
    .min(1)
    .max(fetchedResultBytes)
    .default(fetchedResultBytes)
    .describe(`Maximum bytes of text to return, up to ${fetchedResultBytes}`),
});

/** The definition for a turn whose toolset does not list it. */
export const fetchResultTool = injectedTool(fetchResultName, fetchResultDescription, FetchResultInput);
