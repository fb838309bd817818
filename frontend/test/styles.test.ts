import {readFileSync} from "node:fs";
import {expect, it} from "vitest";

/** The lines between braces after a selector, without their indent. */
function block(css: string, selector: string): string[] {
  const inside = css.split(`${selector} {`)[1]?.split("}")[0] ?? "";
  const lines = inside.split("\n").map((line) => line.trim());
  return lines.filter((line) => line.startsWith("--"));
}

it.each(["tokens", "strip"])("dark is one dark, by the device or by a link: %s.css", (name) => {
  const css = readFileSync(`../static/styles/${name}.css`, "utf8");
  const byDevice = block(css, ':root:where(:not([data-theme="light"]))');
  expect(byDevice.length).toBeGreaterThan(7);
  expect(block(css, ':root:where([data-theme="dark"])')).toEqual(byDevice);
});
