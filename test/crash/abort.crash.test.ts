import { describeKill } from './matrix.ts';

describeKill('abort');
