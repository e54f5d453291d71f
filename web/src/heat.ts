// The heat map's picture: one pixel a cell, then stretched without smoothing, so that a million cells stay smooth.
import type { HeatMap } from "./api";

type Colour = [number, number, number];
// From nothing to most; in the dark from black, in the light from white.
const ramps: Record<"dark" | "light", Colour[]> = {
  dark: [[13, 17, 28], [28, 36, 92], [88, 28, 135], [172, 42, 118], [232, 89, 72], [252, 166, 54], [252, 244, 168]],
  light: [[248, 249, 252], [186, 212, 242], [126, 174, 226], [80, 128, 204], [112, 76, 170], [160, 36, 110], [84, 8, 44]],
};

export function palette(theme: "dark" | "light"): Uint32Array {
  const ramp = ramps[theme];
  const colours = new Uint32Array(256);
  for (let i = 0; i < 256; ++i) {
    const at = (i / 255) * (ramp.length - 1), from = Math.min(Math.floor(at), ramp.length - 2), part = at - from;
    const mix = (channel: number) => Math.round(ramp[from][channel] + (ramp[from + 1][channel] - ramp[from][channel]) * part);
    colours[i] = (255 << 24) | (mix(2) << 16) | (mix(1) << 8) | mix(0); // little-endian RGBA
  }
  return colours;
}

// What a cell is compared with: nearly the largest value there is, so that one of them does not darken all others.
export function scaleOf(map: HeatMap): number {
  const some = map.values.filter((value) => value > 0);
  if (some.length === 0) return 1;
  some.sort((a, b) => a - b);
  return Math.max(some[Math.min(some.length - 1, Math.floor(some.length * 0.995))], 1);
}

const steps = 8192; // of brightness, more than there are colours
const leastShade = 26; // what is not nothing is seen

// `brightness`: 0 to 1; at a half, the square root.
export function render(map: HeatMap, scale: number, brightness: number, theme: "dark" | "light"): ImageData {
  const rows = map.row_starts.length;
  const image = new ImageData(Math.max(map.columns, 1), Math.max(rows, 1));
  const pixels = new Uint32Array(image.data.buffer);
  const colours = palette(theme);
  const exponent = Math.pow(4, 0.5 - brightness) * 0.5;
  // A million powers would take longer than all the rest.
  const shades = Uint32Array.from({ length: steps + 1 }, (_, i) =>
    colours[i === 0 ? 0 : Math.max(Math.round(255 * Math.pow(i / steps, exponent)), leastShade)]);
  const perStep = steps / scale;
  for (let column = 0; column < map.columns; ++column) {
    for (let row = 0; row < rows; ++row) {
      const value = map.values[column * rows + row];
      pixels[row * map.columns + column] = shades[value <= 0 ? 0 : Math.min(Math.ceil(value * perStep), steps)];
    }
  }
  return image;
}
