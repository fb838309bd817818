"""
Chat templates that do what those of the catalogue's models do, written from their description.

Only the words differ: of the default turns and of the instructions for tools. The structure is
what the tests are about, and it is kept.
"""

from __future__ import annotations

from tokenizers import AddedToken
from transformers import PreTrainedTokenizerFast

from inference.chat.template import ChatTemplate
from inference.engine.vocabulary import TokenizerSource
from tests.fakes import tiny_tokenizer

MARKS = ("<think>", "</think>", "<tool_call>", "</tool_call>", "<tool_response>")

# A default turn, a plain loop, no tools.
SMOLLM2 = """\
{%- if messages[0].role != 'system' -%}
{{ '<|im_start|>system\\nYou are small.<|im_end|>\\n' }}
{%- endif -%}
{%- for message in messages -%}
{{ '<|im_start|>' + message['role'] + '\\n' + message['content'] + '<|im_end|>' + '\\n' }}
{%- endfor -%}
{%- if add_generation_prompt -%}{{ '<|im_start|>assistant\\n' }}{%- endif -%}
"""

TOOLS = """\
{%- macro describe(tools) -%}
{{ '\\n\\n# Tools\\n\\nThese are your tools:\\n<tools>' }}
{%- for tool in tools -%}{{ '\\n' }}{{ tool | tojson }}{%- endfor -%}
{{ '\\n</tools>\\nCall one with <tool_call>\\n{"name": ..., "arguments": ...}\\n</tool_call>' }}
{%- endmacro -%}
"""

# A default turn that any system message replaces; tools are appended to either.
QWEN25 = (
    TOOLS
    + """\
{%- set first = messages[0] -%}
{%- set system = first.content if first.role == 'system' else 'You are a helper.' -%}
{{ '<|im_start|>system\\n' + system }}
{%- if tools -%}{{ describe(tools) }}{%- endif -%}
{{ '<|im_end|>\\n' }}
{%- for message in messages -%}
{%- if message.role == 'tool' -%}
  {%- if loop.index0 == 0 or messages[loop.index0 - 1].role != 'tool' -%}
  {{ '<|im_start|>user' }}
  {%- endif -%}
  {{ '\\n<tool_response>\\n' + message.content + '\\n</tool_response>' }}
  {%- if loop.last or messages[loop.index0 + 1].role != 'tool' -%}{{ '<|im_end|>\\n' }}{%- endif -%}
{%- elif message.role == 'assistant' and message.tool_calls -%}
  {{ '<|im_start|>assistant' }}
  {%- if message.content -%}{{ '\\n' + message.content }}{%- endif -%}
  {%- for call in message.tool_calls -%}
    {%- if call.function -%}{%- set call = call.function -%}{%- endif -%}
    {{ '\\n<tool_call>\\n{"name": "' + call.name + '", "arguments": ' }}
    {{- call.arguments | tojson }}{{ '}\\n</tool_call>' }}
  {%- endfor -%}
  {{ '<|im_end|>\\n' }}
{%- elif not (loop.first and message.role == 'system') -%}
  {{ '<|im_start|>' + message.role + '\\n' + message.content + '<|im_end|>\\n' }}
{%- endif -%}
{%- endfor -%}
{%- if add_generation_prompt -%}{{ '<|im_start|>assistant\\n' }}{%- endif -%}
"""
)

# No default turn; thoughts are shown after the last question only; thinking can be turned off.
QWEN3 = (
    TOOLS
    + """\
{%- if tools -%}
  {{ '<|im_start|>system\\n' }}
  {%- if messages[0].role == 'system' -%}{{ messages[0].content }}{%- endif -%}
  {{ describe(tools) }}{{ '<|im_end|>\\n' }}
{%- elif messages[0].role == 'system' -%}
  {{ '<|im_start|>system\\n' + messages[0].content + '<|im_end|>\\n' }}
{%- endif -%}
{%- set last = namespace(question=messages | length - 1, sought=true) -%}
{%- for message in messages[::-1] -%}
  {%- set place = messages | length - 1 - loop.index0 -%}
  {%- if last.sought and message.role == 'user' and not (
      message.content.startswith('<tool_response>')
      and message.content.endswith('</tool_response>')) -%}
    {%- set last.sought = false -%}{%- set last.question = place -%}
  {%- endif -%}
{%- endfor -%}
{%- for message in messages -%}
{%- set content = message.content if message.content is string else '' -%}
{%- if message.role == 'user' or (message.role == 'system' and not loop.first) -%}
  {{ '<|im_start|>' + message.role + '\\n' + content + '<|im_end|>\\n' }}
{%- elif message.role == 'assistant' -%}
  {%- set thought = '' -%}
  {%- if message.reasoning_content is string -%}
    {%- set thought = message.reasoning_content -%}
  {%- elif '</think>' in content -%}
    {%- set thought = content.split('</think>')[0].split('<think>')[-1].strip('\\n') -%}
    {%- set content = content.split('</think>')[-1].lstrip('\\n') -%}
  {%- endif -%}
  {{ '<|im_start|>assistant\\n' }}
  {%- if loop.index0 > last.question and (loop.last or thought) -%}
    {{ '<think>\\n' + thought.strip('\\n') + '\\n</think>\\n\\n' + content.lstrip('\\n') }}
  {%- else -%}{{ content }}{%- endif -%}
  {%- for call in message.tool_calls or [] -%}
    {%- if not loop.first or content -%}{{ '\\n' }}{%- endif -%}
    {%- if call.function -%}{%- set call = call.function -%}{%- endif -%}
    {{ '<tool_call>\\n{"name": "' + call.name + '", "arguments": ' }}
    {%- if call.arguments is string -%}{{ call.arguments }}
    {%- else -%}{{ call.arguments | tojson }}{%- endif -%}
    {{ '}\\n</tool_call>' }}
  {%- endfor -%}
  {{ '<|im_end|>\\n' }}
{%- elif message.role == 'tool' -%}
  {%- if loop.first or messages[loop.index0 - 1].role != 'tool' -%}
  {{ '<|im_start|>user' }}
  {%- endif -%}
  {{ '\\n<tool_response>\\n' + content + '\\n</tool_response>' }}
  {%- if loop.last or messages[loop.index0 + 1].role != 'tool' -%}{{ '<|im_end|>\\n' }}{%- endif -%}
{%- endif -%}
{%- endfor -%}
{%- if add_generation_prompt -%}
  {{ '<|im_start|>assistant\\n' }}
  {%- if enable_thinking is defined and enable_thinking is false -%}
  {{ '<think>\\n\\n</think>\\n\\n' }}
  {%- endif -%}
{%- endif -%}
"""
)

TEMPLATES = {"smollm2": SMOLLM2, "qwen2.5": QWEN25, "qwen3": QWEN3}


def tokenizer(template: str | None) -> PreTrainedTokenizerFast:
    """The tiny tokenizer with a template, and with marks that are tokens though not special."""
    made = tiny_tokenizer()
    made.add_tokens([AddedToken(mark, special=False, normalized=False) for mark in MARKS])
    made.chat_template = template
    return made


def source_of(made: PreTrainedTokenizerFast) -> TokenizerSource:
    return TokenizerSource(
        json=made.backend_tokenizer.to_str(),
        chat_template=made.chat_template,
        special_tokens={"eos_token": made.eos_token},
    )


def chat_template(name: str) -> ChatTemplate:
    source = source_of(tokenizer(TEMPLATES[name]))
    return ChatTemplate(source, splits_thoughts=name == "qwen3")
