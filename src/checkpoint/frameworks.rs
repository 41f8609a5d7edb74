//! The table of frameworks. Each row names the files that it was read from; the commits are those of August 2026, or of
//! the release named. Where a row says `Unknown`, the framework leaves it to the user's script.

use super::Answer;
use super::rule::{Every, Framework, Is, Part, Place, Resume, Saver, Saving, Switch};

/// All rows; the first that a command line runs is it.
pub(super) const FRAMEWORKS: [&Framework; 11] = [
    &MAXTEXT,
    &TORCHTITAN,
    &NEMO,
    &MEGATRON_BRIDGE,
    &MEGATRON_LM,
    &TORCHTUNE,
    &LIGHTNING_CLI,
    &TRAINER,
    &LIGHTNING,
    &RAY_TRAIN,
    &DEEPSPEED,
];

const NONE: Framework = Framework {
    name: "",
    programs: &[],
    except: &[],
    keys: &[],
    needs: &[],
    other_keys: &[],
    env_prefix: None,
    configs: &[],
    shipped: &[],
    saving: Saving::Script,
    off: &[],
    places: &[],
    every: &[],
    weights_only: &[],
    resume: Resume { on: &[], load: &[], never: &[], absent: Answer::Unknown, absent_why: "its script decides" },
    saver: None,
    also: &[],
};

const fn on(key: &'static str) -> Switch {
    Switch { key, is: Is::On }
}

const fn off(key: &'static str) -> Switch {
    Switch { key, is: Is::Off }
}

const fn at(base: &'static [&'static str], below: &'static [Part]) -> Place {
    Place { base, default: None, below }
}

const fn at_or(base: &'static [&'static str], default: &'static str, below: &'static [Part]) -> Place {
    Place { base, default: Some(default), below }
}

const fn each(key: &'static str, unit: &'static str) -> Every {
    Every { key, unit, default: None }
}

const fn each_or(key: &'static str, unit: &'static str, default: &'static str) -> Every {
    Every { key, unit, default: Some(default) }
}

/// AI-Hypercomputer/maxtext: `src/maxtext/configs/base.yml` (keys, defaults, order of restoring), `configs/types.py`
/// (`run_name` from `JOBSET_NAME`, else from the time; `<base>/<run>/checkpoints`), `configs/pyconfig.py`
/// (`maxtext_output`, variables `M_…`), `common/checkpoint_context.py` (`enable_autocheckpoint`).
const MAXTEXT: Framework = Framework {
    name: "MaxText",
    programs: &["maxtext+train"],
    except: &["decode", "inference", "inference_", "checkpoint_conversion", "train_compile", "jetstream", "convert"],
    keys: &["base_output_directory", "checkpoint_period", "enable_multi_tier_checkpointing", "load_full_state_path"],
    env_prefix: Some("M_"),
    configs: &[""],
    shipped: &["base.yml", "maxtext/configs/"],
    saving: Saving::ByDefault,
    off: &[off("enable_checkpointing")],
    places: &[at_or(
        &["base_output_directory"],
        "maxtext_output",
        &[Part::Run(&["run_name"], "JOBSET_NAME"), Part::Fixed("checkpoints")],
    )],
    every: &[each_or("checkpoint_period", "steps", "10000")],
    resume: Resume {
        absent: Answer::Yes,
        absent_why: "MaxText takes up the latest checkpoint under its run name by itself",
        ..NONE.resume
    },
    saver: Some(Saver { key: "enable_autocheckpoint", default: false, alone: false }),
    also: &[
        "enable_emergency_checkpoint",
        "enable_multi_tier_checkpointing",
        "local_checkpoint_directory",
        "local_checkpoint_period",
        "multi_tier_checkpointing_backup_interval_minutes",
        "load_full_state_path",
    ],
    ..NONE
};

/// pytorch/torchtitan: `torchtitan/components/checkpointer/base.py` (`enable` false, `interval` 500, `load_only`,
/// `load_step` -1: the latest), `trainer.py` (`dump_folder`); before that `torchtitan/config/job_config.py`
/// (`enable_checkpoint`, `job.dump_folder`, `job.config_file`). No shipped `config_registry.py` turns it on.
const TORCHTITAN: Framework = Framework {
    name: "torchtitan",
    programs: &["torchtitan+train"],
    keys: &[
        "job.config_file",
        "job.dump_folder",
        "dump_folder",
        "checkpoint.enable",
        "checkpoint.enable_checkpoint",
        "checkpoint.folder",
        "checkpoint.interval",
    ],
    configs: &["job.config_file"],
    saving: Saving::With(&[on("checkpoint.enable"), on("checkpoint.enable_checkpoint")]),
    off: &[
        on("checkpoint.no_enable"),
        on("checkpoint.no_enable_checkpoint"),
        on("checkpoint.load_only"),
        off("checkpoint.enable"),
        off("checkpoint.enable_checkpoint"),
    ],
    places: &[at_or(
        &["dump_folder", "job.dump_folder"],
        "./outputs",
        &[Part::Key(&["checkpoint.folder"], "checkpoint")],
    )],
    every: &[each_or("checkpoint.interval", "steps", "500")],
    resume: Resume {
        absent: Answer::Yes,
        absent_why: "torchtitan loads the latest checkpoint of its folder by itself",
        ..NONE.resume
    },
    also: &["checkpoint.initial_load_path", "checkpoint.load_step", "checkpoint.async_mode"],
    ..NONE
};

/// huggingface/transformers 5.24.0: `training_args.py` (`output_dir` `trainer_output`, `save_strategy` steps,
/// `save_steps` 500, `save_only_model`, `enable_jit_checkpoint`; `resume_from_checkpoint` is for the script to pass),
/// `trainer_jit_checkpoint.py` (saves 3 s after SIGTERM whatever the strategy), `hf_argparser.py` (dashes too).
const TRAINER: Framework = Framework {
    name: "Hugging Face Trainer",
    programs: &[
        "trl sft",
        "trl dpo",
        "trl grpo",
        "trl kto",
        "trl reward",
        "trl rloo",
        "llamafactory-cli train",
        "run_clm.py",
        "run_mlm.py",
        "run_glue.py",
    ],
    keys: &[
        "per_device_train_batch_size",
        "save_strategy",
        "save_total_limit",
        "save_only_model",
        "enable_jit_checkpoint",
        "num_train_epochs",
        "load_best_model_at_end",
    ],
    other_keys: &["checkpointing_steps"],
    configs: &["", "config"],
    saving: Saving::ByDefault,
    off: &[Switch { key: "save_strategy", is: Is::Word("no") }],
    places: &[at_or(&["output_dir"], "trainer_output", &[])],
    every: &[each_or("save_steps", "steps", "500")],
    weights_only: &[on("save_only_model")],
    resume: Resume {
        on: &["resume_from_checkpoint"],
        absent_why: "no --resume_from_checkpoint; its script may look for the latest checkpoint all the same",
        ..NONE.resume
    },
    saver: Some(Saver { key: "enable_jit_checkpoint", default: false, alone: true }),
    also: &["save_total_limit", "save_strategy"],
    ..NONE
};

const MEGATRON_NEVER: [Switch; 2] = [on("finetune"), on("no_load_optim")];

/// NVIDIA/Megatron-LM: `megatron/training/config/training_config.py` (`save`, `load`, `save_interval` none by default,
/// `finetune`, `exit_signal_handler`), `training.py` (saves only with `save`; on SIGTERM with it),
/// `checkpointing.py` (`finetune` starts at iteration 0; `pretrained_checkpoint` implies it).
const MEGATRON_LM: Framework = Framework {
    name: "Megatron-LM",
    programs: &[
        "pretrain_gpt.py",
        "pretrain_bert.py",
        "pretrain_t5.py",
        "pretrain_mamba.py",
        "pretrain_hybrid.py",
        "pretrain_vlm.py",
    ],
    except: &["inference", "inference_", "run_text_generation_server", "checkpoint/convert", "preprocess_data.py"],
    keys: &[
        "tensor_model_parallel_size",
        "pipeline_model_parallel_size",
        "exit_on_missing_checkpoint",
        "non_persistent_save_interval",
        "no_save_optim",
        "train_iters",
    ],
    configs: &["yaml_cfg"],
    saving: Saving::WithPlace,
    places: &[at(&["save"], &[])],
    every: &[each("save_interval", "iterations"), each("persistent_save_interval", "iterations")],
    weights_only: &[on("no_save_optim")],
    resume: Resume {
        load: &["load"],
        never: &MEGATRON_NEVER,
        absent: Answer::No,
        absent_why: "without --load it begins anew",
        ..NONE.resume
    },
    saver: Some(Saver { key: "exit_signal_handler", default: false, alone: false }),
    also: &["ckpt_step", "non_persistent_save_interval", "non_persistent_ckpt_type", "exit_on_missing_checkpoint"],
    ..NONE
};

/// NVIDIA-NeMo/Megatron-Bridge: `src/megatron/bridge/training/config.py` (`CheckpointConfig`),
/// `recipes/common.py` (recipes save to and load from a folder of their own).
const MEGATRON_BRIDGE: Framework = Framework {
    name: "Megatron Bridge",
    programs: &["megatron.bridge", "megatron-bridge"],
    except: &["convert_checkpoints", "convert"],
    keys: &["checkpoint.save", "checkpoint.load", "checkpoint.save_interval", "checkpoint.pretrained_checkpoint"],
    configs: &["config_file", "config"],
    places: &[at(&["checkpoint.save"], &[])],
    every: &[each("checkpoint.save_interval", "iterations")],
    weights_only: &[off("checkpoint.save_optim")],
    resume: Resume {
        load: &["checkpoint.load"],
        never: &[on("checkpoint.finetune"), off("checkpoint.load_optim")],
        absent_why: "no checkpoint.load; its recipe may set one",
        ..NONE.resume
    },
    saver: Some(Saver { key: "train.exit_signal_handler", default: false, alone: false }),
    also: &["checkpoint.ckpt_step", "checkpoint.non_persistent_save_interval"],
    ..NONE
};

/// NVIDIA-NeMo/NeMo: `nemo/utils/exp_manager.py` (`ExpManagerConfig`, `CallbackParams`). By default
/// `create_checkpoint_callback` and `create_preemption_callback` are true, `resume_if_exists` is false, but shipped
/// YAML sets it.
const NEMO: Framework = Framework {
    name: "NeMo",
    programs: &["megatron_gpt_pretraining.py", "megatron_gpt_finetuning.py"],
    except: &["megatron_gpt_eval.py"],
    keys: &["exp_manager."],
    saving: Saving::ByDefault,
    off: &[off("exp_manager.create_checkpoint_callback"), off("exp_manager")],
    places: &[
        at(&["exp_manager.checkpoint_callback_params.dirpath"], &[]),
        at(&["exp_manager.explicit_log_dir"], &[Part::Fixed("checkpoints")]),
        at_or(&["exp_manager.exp_dir"], "nemo_experiments", &[Part::Key(&["exp_manager.name"], "")]),
    ],
    every: &[
        each("exp_manager.checkpoint_callback_params.every_n_train_steps", "steps"),
        each("exp_manager.checkpoint_callback_params.train_time_interval", ""),
        each("exp_manager.checkpoint_callback_params.every_n_epochs", "epochs"),
    ],
    weights_only: &[on("exp_manager.checkpoint_callback_params.save_weights_only")],
    resume: Resume {
        on: &["exp_manager.resume_if_exists", "exp_manager.resume_from_checkpoint"],
        absent_why: "no exp_manager.resume_if_exists; its YAML may set it",
        ..NONE.resume
    },
    saver: Some(Saver { key: "exp_manager.create_preemption_callback", default: true, alone: false }),
    also: &["exp_manager.checkpoint_callback_params.save_top_k", "exp_manager.resume_ignore_no_checkpoint"],
    ..NONE
};

/// pytorch/torchtune: `recipes/full_finetune_distributed.py` (`save_every_n_steps`, else each epoch),
/// `recipes/configs/**` (`resume_from_checkpoint: False` in all; `checkpointer.checkpoint_dir` is the model read).
const TORCHTUNE: Framework = Framework {
    name: "torchtune",
    programs: &["tune run", "full_finetune_distributed", "lora_finetune_distributed"],
    except: &["generate", "eleuther_eval", "quantize"],
    keys: &["checkpointer.checkpoint_dir", "checkpointer.output_dir", "checkpointer.checkpoint_files"],
    configs: &["config"],
    shipped: &["recipes/configs/"],
    saving: Saving::ByDefault,
    places: &[at(&["checkpointer.output_dir"], &[]), at_or(&["output_dir"], "/tmp/torchtune", &[])],
    every: &[each("save_every_n_steps", "steps"), each_or("", "epoch", "1")],
    resume: Resume {
        on: &["resume_from_checkpoint"],
        absent: Answer::No,
        absent_why: "torchtune's configs have resume_from_checkpoint off",
        ..NONE.resume
    },
    ..NONE
};

const LIGHTNING_PLACES: [Place; 3] = [
    at(&["model_checkpoint.dirpath", "trainer.callbacks.dirpath", "trainer.callbacks.init_args.dirpath"], &[]),
    at(&["trainer.default_root_dir", "default_root_dir"], &[]),
    at_or(&[], ".", &[]),
];
const LIGHTNING_EVERY: [Every; 3] = [
    each("model_checkpoint.every_n_train_steps", "steps"),
    each("trainer.callbacks.init_args.every_n_train_steps", "steps"),
    each_or("", "epoch", "1"),
];
const LIGHTNING_OFF: [Switch; 4] = [
    off("trainer.enable_checkpointing"),
    off("enable_checkpointing"),
    on("trainer.fast_dev_run"),
    on("trainer.barebones"),
];

/// Lightning-AI/pytorch-lightning, its command line: `src/lightning/pytorch/trainer/trainer.py`
/// (`enable_checkpointing` true, `default_root_dir` the working directory), `callbacks/model_checkpoint.py`,
/// `cli.py` (`fit --ckpt_path`). `validate`, `test` and `predict` read checkpoints and save none.
const LIGHTNING_CLI: Framework = Framework {
    name: "Lightning",
    programs: &["=fit"],
    needs: &["trainer.", "trainer", "model.", "data.", "config", "ckpt_path", "default_root_dir"],
    configs: &["config", "trainer"],
    saving: Saving::ByDefault,
    off: &LIGHTNING_OFF,
    places: &LIGHTNING_PLACES,
    every: &LIGHTNING_EVERY,
    weights_only: &[on("model_checkpoint.save_weights_only")],
    resume: Resume {
        on: &["ckpt_path"],
        absent: Answer::No,
        absent_why: "without --ckpt_path, fit begins anew",
        ..NONE.resume
    },
    ..NONE
};

/// Lightning in a script of the user's, which may give its Trainer other arguments.
const LIGHTNING: Framework = Framework {
    name: "Lightning",
    programs: &["lightning", "pytorch_lightning"],
    keys: &["trainer.default_root_dir", "default_root_dir", "trainer.enable_checkpointing"],
    off: &LIGHTNING_OFF,
    places: &[LIGHTNING_PLACES[0], LIGHTNING_PLACES[1]],
    every: &[LIGHTNING_EVERY[0], LIGHTNING_EVERY[1]],
    resume: Resume { on: &["resume_from_checkpoint"], ..NONE.resume },
    except: &["validate", "predict", "test"],
    ..NONE
};

/// ray-project/ray: docs.ray.io `train/api/doc/ray.train.RunConfig` (`storage_path`), `train/user-guides/
/// persistent-storage`. What is saved, and whether it is taken up, stands in the script.
const RAY_TRAIN: Framework = Framework {
    name: "Ray Train",
    programs: &["ray job", "ray submit"],
    places: &[at(&["storage_path"], &[])],
    ..NONE
};

/// deepspeedai/DeepSpeed 0.19.8: `deepspeed/__init__.py` (its own arguments), `runtime/engine.py` (`save_checkpoint`,
/// `load_checkpoint` and their directories are the script's).
const DEEPSPEED: Framework = Framework {
    name: "DeepSpeed",
    programs: &["deepspeed"],
    keys: &["deepspeed_config"],
    places: &[at(&["save_dir"], &[])],
    every: &[each("save_interval", "steps")],
    ..NONE
};
