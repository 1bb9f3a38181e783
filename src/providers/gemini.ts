import { Problem } from '../core/problem.ts';
import type { Adapter } from './adapter.ts';

export const gemini: Adapter = {
  path: () => '',
  toBody() {
    throw new Problem('internal', 'generateContent  is not spoken yet.');
  },
  createReply() {
    throw new Problem('internal', 'generateContent  is not spoken yet.');
  },
};
