"""Every setting of the service, typed, with its default and the line that explains it.

Where a value comes from, strongest first: flags (`--data`, `--listen`, `--set section.key=value`), the environment
(`RECALL_DATA`, `RECALL_SECTION__KEY`), one TOML file (`--config`, else `RECALL_CONFIG`, else `./recall.toml` when it is
there), the defaults. A key that nobody knows is an error that names the nearest known one, wherever it stands.

A section's dataclass lives in the package that it configures; this module composes them. Reading the sources, and the
errors about them, stand in `settings_sources.py`.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pydantic import Field, field_validator
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

from consolidate.settings import ConsolidateSettings, JudgeSettings
from index.analysis_settings import AnalysisSettings
from index.backfill import BackfillSettings
from index.embedder import EmbeddingSettings
from index.lexical_settings import LexicalSettings
from index.vectors import VectorSettings
from recall.access_settings import AccessSettings
from recall.address import parse_address
from recall.context.settings import ContextSettings
from recall.memory.settings import StorageSettings
from recall.ranking.settings import BudgetSettings, RankingSettings, RerankSettings
from recall.server.settings import ServerSettings

DEFAULT_LISTEN = "127.0.0.1:50051"


@dataclass(frozen=True, slots=True)
class RecallSettings:
    """What a recall does when the request does not say."""

    default_limit: int = 6
    """Results when neither the request nor the bank says how many (1 to 100)."""

    def __post_init__(self) -> None:
        if not 1 <= self.default_limit <= 100:
            raise ValueError("default_limit must be 1 to 100")


class Settings(BaseSettings):
    """All settings. `Settings(…)` itself reads nothing but its arguments; `load_settings` reads the sources."""

    model_config = SettingsConfigDict(frozen=True, extra="forbid", env_prefix="RECALL_", env_nested_delimiter="__")

    data: Path = Path("data")
    """The data folder: the truth of every bank lies under it."""
    listen: str = DEFAULT_LISTEN
    """HOST:PORT on which the server answers (port 0 picks a free one), or unix:PATH, which this user alone may open."""
    access: AccessSettings = Field(default_factory=AccessSettings)
    server: ServerSettings = Field(default_factory=ServerSettings)
    storage: StorageSettings = Field(default_factory=StorageSettings)
    analysis: AnalysisSettings = Field(default_factory=AnalysisSettings)
    embedding: EmbeddingSettings = Field(default_factory=EmbeddingSettings)
    backfill: BackfillSettings = Field(default_factory=BackfillSettings)
    lexical: LexicalSettings = Field(default_factory=LexicalSettings)
    vectors: VectorSettings = Field(default_factory=VectorSettings)
    recall: RecallSettings = Field(default_factory=RecallSettings)
    budget: BudgetSettings = Field(default_factory=BudgetSettings)
    ranking: RankingSettings = Field(default_factory=RankingSettings)
    rerank: RerankSettings = Field(default_factory=RerankSettings)
    context: ContextSettings = Field(default_factory=ContextSettings)
    consolidate: ConsolidateSettings = Field(default_factory=ConsolidateSettings)
    judge: JudgeSettings = Field(default_factory=JudgeSettings)

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],  # noqa: ARG003 - the signature is pydantic-settings'
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,  # noqa: ARG003
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        return (init_settings,)

    @field_validator("listen")
    @classmethod
    def _listen_is_an_address(cls, value: str) -> str:
        parse_address(value)
        return value


def load_settings(
    flags: Mapping[str, str] | None = None,
    *,
    config: Path | None = None,
    environ: Mapping[str, str] | None = None,
    folder: Path | None = None,
) -> Settings:
    """The settings in force.

    `flags` maps a setting's path (`"data"`, `"embedding.model"`) to its value as text; `config` is the TOML file asked
    for; `environ` and `folder` stand for `os.environ` and the working folder. Raises `SettingsError`.
    """
    from recall.settings_sources import load  # noqa: PLC0415 - it imports Settings from here

    return load(
        Settings, flags or {}, config, os.environ if environ is None else environ, folder or Path.cwd()
    ).settings
