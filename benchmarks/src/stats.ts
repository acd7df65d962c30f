/** The value that `p` percent of the samples do not exceed, by nearest rank: always a real sample. */
export function percentile(samples: readonly number[], p: number): number {
  const sorted = [...samples].sort((a, b) => a - b);
  const rank = Math.max(1, Math.ceil((p / 100) * sorted.length));
  const value = sorted[rank - 1];
  if (value === undefined) throw new Error("a percentile needs at least one sample");
  return value;
}

export function median(samples: readonly number[]): number {
  return percentile(samples, 50);
}

export function mean(samples: readonly number[]): number {
  return samples.reduce((sum, sample) => sum + sample, 0) / samples.length;
}

/** By how much the mean of such samples is off by chance: its standard error. */
export function meanError(samples: readonly number[]): number {
  const middle = mean(samples);
  const deviation = Math.sqrt(mean(samples.map((sample) => (sample - middle) ** 2)));
  return deviation / Math.sqrt(samples.length);
}

/** Of the straight line that least squares fits through the points. */
export function slope(points: readonly (readonly [x: number, y: number])[]): number {
  const meanX = mean(points.map(([x]) => x));
  const meanY = mean(points.map(([, y]) => y));
  const covariance = mean(points.map(([x, y]) => (x - meanX) * (y - meanY)));
  const variance = mean(points.map(([x]) => (x - meanX) ** 2));
  if (!(variance > 0)) throw new Error("a line needs points at two places");
  return covariance / variance;
}
