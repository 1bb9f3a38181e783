import { Problem } from '../core/problem.ts';
import type { Adapter } from './adapter.ts';

export const cohere: Adapter = {
  path: () => '',
  toBody() {
    throw new Problem('internal', 'Chat v2 is not spoken yet.');
  },
  createReply() {
    throw new Problem('internal', 'Chat v2 is not spoken yet.');
  },
};
