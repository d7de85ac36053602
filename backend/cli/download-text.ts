import type { DownloadProgress } from '../lm/download/progress-meter.ts';
import { gigabytes } from '../lm/download/size-text.ts';
import { formatElapsed } from '../protocol/figures.ts';
import type { Progress } from './progress-printer.ts';

/** Progress of a download: percentage, bytes, speed and remaining time. */
export function downloadProgress(label: string, { receivedBytes, totalBytes, bytesPerSecond }: DownloadProgress): Progress {
  const figures = [`${gigabytes(receivedBytes)} of ${gigabytes(totalBytes)}`];
  if (bytesPerSecond > 0) {
    figures.push(`${gigabytes(bytesPerSecond)}/s`);
    if (receivedBytes < totalBytes) figures.push(`${formatElapsed(((totalBytes - receivedBytes) / bytesPerSecond) * 1_000)} left`);
  }
  return { label, fraction: totalBytes > 0 ? receivedBytes / totalBytes : 1, detail: figures.join(', ') };
}
