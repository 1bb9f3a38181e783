import { Problem } from '../core/problem.ts';
import type { Adapter } from './adapter.ts';

export const openaiResponses: Adapter = {
  path: () => '',
  toBody() {
    throw new Problem('internal', 'Responses API is not spoken yet.');
  },
  createReply() {
    throw new Problem('internal', 'Responses API is not spoken yet.');
  },
};
