import { describeKill } from './matrix.ts';

describeKill('deploy');
